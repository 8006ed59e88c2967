// The interface behind which a group of commits becomes durable. The code above it does not know
// which implementation runs.
#pragma once

#include "base/status.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class Journal {
 public:
  virtual ~Journal() = default;
  // Makes the group durable, as far as the durability setting asks for that, and visible to
  // readers. One thread appends the groups of a shard, in order. On failure no part of the group is
  // visible, and the shard must not go on before Recover succeeds.
  virtual Status Append(ShardId shard, storage::Batch* group) = 0;
  virtual Status Recover() = 0;
};

// The store's own write-ahead log.
class EmbeddedJournal final : public Journal {
 public:
  EmbeddedJournal(storage::Store& store, storage::Sync sync) : store_(store), sync_(sync) {}
  Status Append(ShardId, storage::Batch* group) override { return store_.Write(group, sync_); }
  Status Recover() override { return store_.Resume(); }

 private:
  storage::Store& store_;
  const storage::Sync sync_;
};

}  // namespace sluice::db
