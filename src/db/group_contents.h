// What a group of another committer changes, found in its rows: the same facts that the committer
// which built the group knows of it.
#pragma once

#include "base/status.h"
#include "db/commit.h"
#include "db/shard_state.h"
#include "storage/batch.h"

namespace sluice::db {

struct FoundInBatch {
  ShardState state;  // after the group
  Committed committed;
};
// Error group.corrupt if the batch has no row of the shard, or rows that can't be read.
Result<FoundInBatch> FindInBatch(const storage::Batch& batch, ShardId shard);

// The keys within the shard of the rows of `meta` that it changes, without the shard's own row,
// which each group has.
std::vector<std::string> MetaKeysOf(const storage::Batch& batch, ShardId shard);

}  // namespace sluice::db
