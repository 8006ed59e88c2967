// Which shards this server owns, and the work that goes on in them.
//
// Work that belongs to a shard (functions, triggers, timers, runs of flows, expiry, mass migration)
// is a tenant: it starts in a shard when the server gains that shard, and has stopped there when
// the server has lost it. A server without a cluster owns all shards from its start on.
//
// Tenants gain a shard in the order in which they were added and lose it in the opposite one, so a
// tenant may use those that were added before it. The first one is the database itself (shards.cc):
// the shard takes commits before another tenant has gained it, and until all others have lost it.
// Then commits are refused with kNotOwner, and the shard can be fed with groups.
//
// Concurrency: any thread. The mutex is held during the calls to tenants: a tenant calls nothing
// here but Owns and owned, and sees one change at a time.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "base/locked.h"
#include "base/mutex.h"
#include "db/types.h"

namespace sluice::db {

// The id of the error of a commit in a shard that this server does not own.
inline constexpr std::string_view kNotOwner = "commit.not_owner";

// Gained and Lost come in pairs for each shard, in this order, never two at the same time.
class ShardTenant {
 public:
  virtual ~ShardTenant() = default;
  virtual void Gained(ShardId shard) = 0;
  // Returns when nothing of the tenant works in the shard any more. Commits that it made may still
  // be on their way, and may be refused.
  virtual void Lost(ShardId shard) = 0;
};

class Ownership {
 public:
  // The shards that are owned now are gained by the tenant before it returns.
  void Add(ShardTenant* tenant);
  // The owned shards are lost by the tenant before it returns. One that was not added is left
  // alone.
  void Remove(ShardTenant* tenant);

  // An owned shard is left as it is. One whose copy is incomplete (shard_copy.h) can't be given.
  void Give(ShardId shard);
  void Take(ShardId shard);  // a shard that is not owned is left as it is

  // A shard counts as owned while tenants gain and lose it.
  bool Owns(ShardId shard) const;
  std::set<ShardId> owned() const;

 private:
  Mutex mutex_;  // one change at a time
  std::vector<ShardTenant*> tenants_ GUARDED_BY(mutex_);
  Locked<std::set<ShardId>> owned_;
};

}  // namespace sluice::db
