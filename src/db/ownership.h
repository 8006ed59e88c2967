// Which shards this server owns, and the work that goes on in them.
//
// Work that belongs to a shard (functions, triggers, timers, runs of flows, expiry, mass migration)
// is a tenant: it starts in a shard when the server gains that shard, and has stopped there when
// the server has lost it. A server without a cluster owns all shards from its start on.
//
// Tenants gain a shard in the order in which they were added and lose it in the opposite one, so a
// tenant may use those that were added before it.
//
// Concurrency: any thread. The mutex is held during the calls to tenants: a tenant does not call
// back, and sees one change at a time.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "db/types.h"

namespace sluice::db {

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

  void Give(ShardId shard);  // an owned shard is left as it is
  void Take(ShardId shard);  // a shard that is not owned is left as it is

  bool Owns(ShardId shard) const;
  std::set<ShardId> owned() const;

 private:
  mutable Mutex mutex_;
  std::vector<ShardTenant*> tenants_ GUARDED_BY(mutex_);
  std::set<ShardId> owned_ GUARDED_BY(mutex_);
};

}  // namespace sluice::db
