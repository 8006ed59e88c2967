// Rows that other modules keep in the database: definitions, timers, failures, runs of flows. A
// commit writes them (Commit::rows), together with the documents that they belong to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "storage/store.h"

namespace sluice::db {

enum class RowFamily : uint8_t {
  kMeta,      // definitions, by name
  kTimer,     // of `timer`
  kFailure,   // of `failure`
  kRun,       // of `flow_engine` and `outbox`
  kRevision,  // of `db` itself (revisions.h)
  kExpiry,    // of `db` itself (expiry.h)
};
storage::Family StoredFamily(RowFamily family);

struct RowWrite {
  RowFamily family = RowFamily::kRun;
  std::string key;
  std::optional<std::string> value;  // none deletes
  // When set, the row's present value must equal it (an empty inner optional: must be absent).
  std::optional<std::optional<std::string>> expected;
};

// Keys from `from` on and below `to`; an empty one is no bound.
struct RowRange {
  std::string from;
  std::string to;
};

// Rows of one family in key order, as they were when the iterator was made. One thread; must end
// before the database.
class RowIterator {
 public:
  explicit RowIterator(std::unique_ptr<storage::Iterator> rows) : rows_(std::move(rows)) {}

  void Seek(std::string_view key) { rows_->Seek(key); }
  void SeekToFirst() { rows_->SeekToFirst(); }
  void SeekToLast() { rows_->SeekToLast(); }
  void Next() { rows_->Next(); }
  void Prev() { rows_->Prev(); }
  bool Valid() const { return rows_->Valid(); }
  std::string_view key() const { return rows_->key(); }
  std::string_view value() const { return rows_->value(); }
  // Not OK if the iteration ended because of an error.
  Status status() const { return rows_->status(); }

 private:
  std::unique_ptr<storage::Iterator> rows_;
};

// Concurrency: any thread.
class Rows {
 public:
  explicit Rows(const storage::Store& store) : store_(store) {}

  // False when there is no such row.
  Result<bool> Get(RowFamily family, std::string_view key, std::string* value) const {
    return store_.Get(StoredFamily(family), key, value);
  }
  std::unique_ptr<RowIterator> NewIterator(RowFamily family, RowRange range = {}) const;

 private:
  const storage::Store& store_;
};

}  // namespace sluice::db
