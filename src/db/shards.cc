// What the database itself does in the shards that this server owns. It is the first of their
// tenants: when it gains a shard, the shard's committer takes commits; when it loses the shard, no
// other tenant is left there, and the committer takes the groups of the next owner. Opening gives
// an owner all shards in this way, so a standby that takes over does what a start does.
//
// A change of the catalog, and the building of an index, go through all shards. They need a server
// that owns all of them, for now: else catalog.shards_away. Lost waits for a change that runs.
#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "base/mutex.h"
#include "db/database_impl.h"
#include "db/shared_commits.h"

namespace sluice::db {

Status DatabaseImpl::GiveAll() {
  const std::set<ShardId> not_loaded = incomplete.Copy();
  if (!not_loaded.empty()) return IncompleteError(*not_loaded.begin());
  *clean_up_.Lock() = OkStatus();
  for (ShardId shard = 0; shard < format.shards; ++shard) ownership.Give(shard);
  return clean_up_.Copy();
}

void DatabaseImpl::Gained(ShardId shard) {
  CHECK(shard < format.shards && !incomplete.Lock()->contains(shard));
  KeepInheritedLog(shard);
  Status cleaned = StartCommitter(shard);
  if (format.shards > 1) shared->Start();
  const bool all = OwnsAll();
  if (cleaned.ok()) cleaned = CleanUpShard(shard);
  if (cleaned.ok() && all) cleaned = CleanUpCatalog();
  if (!cleaned.ok()) {
    log::Error("what an earlier owner left in a shard can't be cleaned up",
               {{"shard", shard}, {"error", cleaned.ToString()}});
    const auto first = clean_up_.Lock();
    if (first->ok()) *first = std::move(cleaned);
  }
  StartBackground();
  if (all) StartIndexBuilding();
}

// What a commit over several shards has left undone comes before everything else in the shard.
Status DatabaseImpl::StartCommitter(ShardId shard) {
  Result<Committer::Task> left = TaskLeft(*store, shard);
  RETURN_IF_ERROR(committers[shard]->Start(left ? std::move(*left)
                                                : [error = left.error()](auto&) { return error; }));
  return ForOwnedShards([this](ShardId owned) {
    return DropOldDecisions(*store, owned, *committers[owned], format.shards);
  });
}

void DatabaseImpl::Lost(ShardId shard) {
  {
    const MutexLock alone(catalog_change_mutex_);
    committers[shard]->BecomeStandby();
  }
  // It ends with its next chunk, because a shard is away. Gained starts it again.
  if (index_builder_.joinable()) index_builder_.join();
}

bool DatabaseImpl::OwnsAll() const {
  return std::ranges::all_of(committers, [](const auto& each) { return each->owns(); });
}

Status DatabaseImpl::CheckOwnsAll() const {
  const auto owned =
      std::ranges::count_if(committers, [](const auto& each) { return each->owns(); });
  if (static_cast<size_t>(owned) == committers.size()) return OkStatus();
  return Error(Code::kUnavailable, "catalog.shards_away",
               "the catalog changes only on a server that owns all shards; this one owns {} of {}",
               owned, committers.size());
}

Status DatabaseImpl::ForOwnedShards(const std::function<Status(ShardId shard)>& work) {
  Status failed;
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    if (!Owns(shard)) continue;
    Status done = work(shard);
    if (!done.ok() && done.id() != kNotOwner) failed = std::move(done);
  }
  return failed;
}

}  // namespace sluice::db
