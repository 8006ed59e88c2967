#include "db/followers.h"

#include "base/bytes.h"
#include "base/mutex.h"
#include "db/catalog_edit.h"
#include "db/database_impl.h"

namespace sluice::db {

Status Followers::Create(const FollowerOptions& options) {
  if (options.lanes == 0) {
    return Error(Code::kInvalidArgument, "follower.invalid_lanes",
                 "a follower has at least one lane");
  }
  FollowerInfo info;
  info.name = options.name;
  info.keyspaces = options.keyspaces;
  info.pattern = options.pattern;
  info.needs_before = options.needs_before;
  info.needs_after = options.needs_after;
  info.holds_log = options.holds_log;
  info.lanes = options.lanes;
  const MutexLock alone(impl_->catalog_change_mutex_);
  RETURN_IF_ERROR(
      impl_->ChangeCatalogAlone([&](CatalogEdit& edit) { return edit.CreateFollower(info); }));
  Status created = impl_->CreateCursors(options);
  if (!created.ok()) {
    // If that fails, too, the follower is dropped when the database is opened again.
    (void)impl_->DropFollower(options.name);
  }
  return created;
}

// The keyspaces are logged already, so a cursor at the place of its own commit misses nothing.
Status DatabaseImpl::CreateCursors(const FollowerOptions& options) {
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    Commit commit;
    commit.shard = shard;
    for (uint16_t lane = 0; lane < options.lanes; ++lane) {
      commit.cursor_creates.push_back(
          {.cursor = {options.name, shard, lane},
           .everything = options.start == FollowerOptions::Start::kEverything});
    }
    RETURN_IF_ERROR(committers[shard]->Apply(std::move(commit)).status);
  }
  return OkStatus();
}

Status Followers::Drop(const std::string& name) {
  const MutexLock alone(impl_->catalog_change_mutex_);
  return impl_->DropFollower(name);
}

Status DatabaseImpl::DropFollower(const std::string& name) {
  RETURN_IF_ERROR(ChangeCatalogAlone([&](CatalogEdit& edit) { return edit.DropFollower(name); }));
  return DeleteCursors(name);
}

// The committer of each shard deletes its cursors: a commit that moves one at the same time comes
// before that, or finds no cursor.
Status DatabaseImpl::DeleteCursors(const std::string& follower) {
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    RETURN_IF_ERROR(committers[shard]->Run([&](Committer::TaskContext& context) {
      const std::string prefix = CursorPrefix(follower, shard);
      context.batch.DeleteRange(storage::Family::kCursor, prefix, PrefixEnd(prefix));
      return OkStatus();
    }));
  }
  return OkStatus();
}

Result<std::shared_ptr<void>> Followers::FollowTransiently(KeyspaceId keyspace) {
  RETURN_IF_ERROR(
      impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.AddTransientFollower(keyspace); }));
  return std::shared_ptr<void>(nullptr, [departures = impl_->departures_, keyspace](void*) {
    departures->Lock()->push_back({keyspace});
  });
}

Result<CursorState> Followers::ReadCursor(const CursorId& cursor) const {
  std::string stored;
  ASSIGN_OR_RETURN(const bool found,
                   impl_->store->Get(storage::Family::kCursor, CursorKey(cursor), &stored));
  if (!found) {
    return Fail(Code::kNotFound, "cursor.not_found", "'{}' has no cursor for shard {}, lane {}",
                cursor.follower, cursor.shard, cursor.lane);
  }
  return DecodeCursor(stored);
}

bool Followers::LogCovers(KeyspaceId keyspace, ShardId shard, Sequence position,
                          LogContent content) const {
  if (position < impl_->committers[shard]->trimmed()) return false;
  const std::optional<Sequence> since = impl_->coverage.Since(keyspace, shard, content);
  if (since) return position >= *since;
  return impl_->CurrentCatalog()->Find(keyspace) == nullptr;
}

Sequence Followers::LogTrimmed(ShardId shard) const { return impl_->committers[shard]->trimmed(); }

bool Followers::TombstonesCover(ShardId shard, Sequence position) const {
  return position >= impl_->committers[shard]->purged();
}

std::shared_ptr<void> Followers::OnCommitted(ShardId shard, CommitListener listener) {
  return impl_->committers[shard]->OnCommitted(std::move(listener));
}

Sequence Followers::LastSequence(ShardId shard) const {
  return impl_->committers[shard]->last_sequence();
}

Result<bool> Followers::ReadLogRow(ShardId shard, const LogPosition& position,
                                   std::string* row) const {
  return impl_->store->Get(storage::Family::kLog, LogKey(shard, position.sequence, position.n),
                           row);
}

}  // namespace sluice::db
