// Rows that other modules keep in the database: definitions, timers, failures, runs of flows. A
// commit writes them (Commit::rows), together with the documents that they belong to. A row belongs
// to a shard, and only commits of this shard write it. Keys here are those within the shard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/merged_iterator.h"
#include "db/types.h"
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
  std::optional<ShardId> shard;  // must be that of its commit; none: it is
  std::string key;
  std::optional<std::string> value;  // none deletes
  // When set, the row's present value must equal it (an empty inner optional: must be absent).
  std::optional<std::optional<std::string>> expected;
};

// Keys from `from` on and below `to`; an empty one is no bound.
struct RowRange {
  enum class Order : uint8_t { kForward, kReverse };
  std::string from;
  std::string to;
  Order order = Order::kForward;
};

// Rows of one family in the order of their keys, as they were when the iterator was made. One
// thread; must end before the database.
class RowIterator {
 public:
  explicit RowIterator(MergedIterator rows) : rows_(std::move(rows)) {}

  void SeekToFirst() { rows_.SeekToFirst(); }
  // Forward only.
  void Seek(std::string_view key) { rows_.Seek(key); }
  void Next() { rows_.Next(); }
  bool Valid() const { return rows_.Valid(); }
  ShardId shard() const { return rows_.shard(); }
  std::string_view key() const { return rows_.key(); }
  std::string_view value() const { return rows_.value(); }
  // Not OK if the iteration ended because of an error.
  Status status() const { return rows_.status(); }

 private:
  MergedIterator rows_;
};

// Concurrency: any thread.
class Rows {
 public:
  Rows(const storage::Store& store, uint16_t shards) : store_(store), shards_(shards) {}

  // False when there is no such row.
  Result<bool> Get(RowFamily family, ShardId shard, std::string_view key, std::string* value) const;
  std::unique_ptr<RowIterator> NewIterator(RowFamily family, ShardId shard,
                                           const RowRange& range = {}) const;
  // Of all shards in one order; of rows with the same key, those of lower shards come first
  // (forward).
  std::unique_ptr<RowIterator> NewIteratorOfAll(RowFamily family, const RowRange& range = {}) const;

 private:
  const storage::Store& store_;
  const uint16_t shards_;
};

}  // namespace sluice::db
