// Copies of one shard: all its rows as they were at one moment, for a server that has fallen behind
// the log, or is new.
//
//   ASSIGN_OR_RETURN(const auto copy, database.shard_copies().Copy(shard));
//   ASSIGN_OR_RETURN(const auto load, other.shard_copies().Load(shard));  // does not own the shard
//   while (!load->complete()) {
//     ASSIGN_OR_RETURN(const auto batch, copy->Next());
//     RETURN_IF_ERROR(load->Add(*batch));
//   }
//   ... other.ApplyGroup(shard, copy->sequence(), ...)
//
// Operation: the batches are those of docs/formats/groups.md. The last one has the shard's own row,
// so the shard has its sequence, and takes the groups that follow it, when all the rest is there.
// Until then the shard is incomplete, also after a crash: it has the sequence 0, takes no groups
// and can't be owned (shard.incomplete); a load can begin again at any time. Readers see what has
// been loaded so far. When the copy is complete, what is in memory follows the rows, as after a
// group that has changed all of them.
//
// Concurrency: Copy and Load from any thread; one thread for each copy and each load. While a shard
// is loaded, nobody feeds it, loads it a second time, or gives it to this server. A copy holds a
// snapshot of the store. Both end before the database.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/shard_state.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class DatabaseImpl;

class ShardCopy {
 public:
  // The last commit that is in it.
  Sequence sequence() const { return state_.sequence; }
  // The next rows; none: that was all.
  Result<std::optional<std::string>> Next();

 private:
  friend class ShardCopies;
  ShardCopy(const storage::Store& store, ShardId shard) : store_(store), shard_(shard) {}
  void OpenFamily();

  const storage::Store& store_;
  const ShardId shard_;
  std::unique_ptr<storage::Snapshot> snapshot_;
  ShardState state_;
  size_t family_ = 0;
  std::unique_ptr<storage::Iterator> rows_;  // of the family; null: not opened yet
  bool ended_ = false;
};

class ShardLoad {
 public:
  // Errors group.corrupt, group.unknown_version; catalog.corrupt for a last batch that would make a
  // catalog which this server can't read.
  Status Add(std::string_view batch);
  bool complete() const { return complete_; }

 private:
  friend class ShardCopies;
  ShardLoad(DatabaseImpl& impl, ShardId shard) : impl_(impl), shard_(shard) {}
  Status Begin();
  Status Complete(const ShardState& state, storage::Batch* batch);

  DatabaseImpl& impl_;
  const ShardId shard_;
  std::set<std::string> meta_keys_;  // within the shard, before and after
  bool complete_ = false;
};

class ShardCopies {
 public:
  explicit ShardCopies(DatabaseImpl& impl) : impl_(&impl) {}

  // Error shard.incomplete.
  Result<std::unique_ptr<ShardCopy>> Copy(ShardId shard) const;
  // Removes the rows that this server has of the shard. Error group.not_standby for a shard that it
  // owns.
  Result<std::unique_ptr<ShardLoad>> Load(ShardId shard);
  // Whether a load of the shard was not completed.
  bool Incomplete(ShardId shard) const;

 private:
  DatabaseImpl* const impl_;
};

}  // namespace sluice::db
