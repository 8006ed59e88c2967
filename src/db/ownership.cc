#include "db/ownership.h"

#include <algorithm>
#include <ranges>

#include "base/check.h"

namespace sluice::db {

void Ownership::Add(ShardTenant* tenant) {
  const MutexLock lock(mutex_);
  CHECK(std::ranges::find(tenants_, tenant) == tenants_.end());
  tenants_.push_back(tenant);
  for (const ShardId shard : owned()) tenant->Gained(shard);
}

void Ownership::Remove(ShardTenant* tenant) {
  const MutexLock lock(mutex_);
  if (std::erase(tenants_, tenant) == 0) return;
  const std::set<ShardId> shards = owned();
  for (const ShardId shard : std::views::reverse(shards)) tenant->Lost(shard);
}

void Ownership::Give(ShardId shard) {
  const MutexLock lock(mutex_);
  if (!owned_.Lock()->insert(shard).second) return;
  for (ShardTenant* const tenant : tenants_) tenant->Gained(shard);
}

void Ownership::Take(ShardId shard) {
  const MutexLock lock(mutex_);
  if (!Owns(shard)) return;
  for (ShardTenant* const tenant : std::views::reverse(tenants_)) tenant->Lost(shard);
  owned_.Lock()->erase(shard);
}

bool Ownership::Owns(ShardId shard) const { return owned_.Lock()->contains(shard); }

std::set<ShardId> Ownership::owned() const { return owned_.Copy(); }

}  // namespace sluice::db
