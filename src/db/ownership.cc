#include "db/ownership.h"

#include <algorithm>
#include <ranges>

#include "base/check.h"

namespace sluice::db {

void Ownership::Add(ShardTenant* tenant) {
  const MutexLock lock(mutex_);
  CHECK(std::ranges::find(tenants_, tenant) == tenants_.end());
  tenants_.push_back(tenant);
  for (const ShardId shard : owned_) tenant->Gained(shard);
}

void Ownership::Remove(ShardTenant* tenant) {
  const MutexLock lock(mutex_);
  if (std::erase(tenants_, tenant) == 0) return;
  for (const ShardId shard : std::views::reverse(owned_)) tenant->Lost(shard);
}

void Ownership::Give(ShardId shard) {
  const MutexLock lock(mutex_);
  if (!owned_.insert(shard).second) return;
  for (ShardTenant* const tenant : tenants_) tenant->Gained(shard);
}

void Ownership::Take(ShardId shard) {
  const MutexLock lock(mutex_);
  if (!owned_.contains(shard)) return;
  for (ShardTenant* const tenant : std::views::reverse(tenants_)) tenant->Lost(shard);
  owned_.erase(shard);
}

bool Ownership::Owns(ShardId shard) const {
  const MutexLock lock(mutex_);
  return owned_.contains(shard);
}

std::set<ShardId> Ownership::owned() const {
  const MutexLock lock(mutex_);
  return owned_;
}

}  // namespace sluice::db
