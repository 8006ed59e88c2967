// Documents by key, many at a time: the first batch is small, so that a query with a LIMIT does not
// read what it won't use, and they grow from there.
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
    keys_.clear();
    position_ = 0;
    batch_ = kFirstBatch;
  }
  // How many keys to hand to Fill next.
  size_t batch() const { return batch_; }
  // Reads the documents of these keys.
  void Fill(Context& context, std::vector<std::string> keys);
  // Makes the next document the present one. False when all were handed out; keys without a
  // document are passed over and told to `missing`, if given.
  bool Next(Context& context, std::vector<std::string>* missing = nullptr);

 private:
  static constexpr size_t kFirstBatch = 1;
  static constexpr size_t kLargestBatch = 256;

  const SourceTarget& target_;
  std::vector<std::string> keys_;
  std::vector<std::string_view> views_;
  std::vector<db::PinnedDocument> documents_;
  std::vector<bool> found_;
  size_t position_ = 0;
  size_t batch_ = kFirstBatch;
};

}  // namespace sluice::query
