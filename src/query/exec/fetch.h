// Reads documents by key, many at a time. The first batch is small, so that a query with a LIMIT
// does not read documents that it won't use; later batches grow.
//
//   while (!fetcher.Next(context)) {
//     while (!fetcher.full() && there are more keys) fetcher.Add(key);
//     if (!fetcher.Fetch(context)) return false;
//   }
//
// State of one operator of one run, on its thread.
#pragma once

#include <string>
#include <vector>

#include "db/reader.h"
#include "query/exec/context.h"
#include "query/exec/scans.h"

namespace sluice::query {

class Fetcher {
 public:
  explicit Fetcher(const SourceTarget& target) : target_(target) {}

  void Open() {
    Clear();
    batch_ = kFirstBatch;
  }
  // Whether Fetch should come before the next Add.
  bool full() const { return views_.size() >= batch_; }
  // One more key to be fetched. `key` is copied.
  void Add(std::string_view key);
  // Reads the documents of the added keys. False if no keys were added.
  bool Fetch(Context& context);
  // The same for a single key, which must stay in place; without a copy and without memory of its
  // own. `only`: the run reads nothing else.
  void FetchOne(Context& context, std::string_view key, bool only);
  // Makes the next document the present one. False after the last one; then keys can be added
  // again. Keys without a document are skipped and added to `missing`, if that is not null.
  bool Next(Context& context, std::vector<std::string>* missing = nullptr);

 private:
  static constexpr size_t kFirstBatch = 1;
  static constexpr size_t kLargestBatch = 256;

  void Clear();
  // The number of keys to fetch, or fetched: one, or those of views_.
  size_t count() const { return single_ ? 1 : views_.size(); }

  const SourceTarget& target_;
  size_t position_ = 0;
  size_t batch_ = kFirstBatch;

  bool single_ = false;
  bool single_found_ = false;
  std::string_view single_key_;
  db::PinnedDocument single_document_;

  std::string bytes_;                    // of all keys
  std::vector<std::string_view> views_;  // into bytes_; until Fetch, only their sizes count
  std::vector<db::PinnedDocument> documents_;
  std::vector<bool> found_;
};

}  // namespace sluice::query
