#include "function/running.h"

namespace sluice::function {

Status Running::Add(const std::shared_ptr<Dispatcher>& dispatcher) {
  const MutexLock lock(mutex_);
  for (const db::ShardId shard : owned_) {
    if (const Status followed = dispatcher->Follow(shard); !followed.ok()) {
      dispatcher->Stop();
      return followed;
    }
  }
  dispatchers_.insert(dispatcher);
  return OkStatus();
}

void Running::Stop(const std::shared_ptr<Dispatcher>& dispatcher) {
  dispatcher->RequestStop();  // it need not wait for shards that come and go
  const MutexLock lock(mutex_);
  dispatchers_.erase(dispatcher);
  dispatcher->Stop();
}

void Running::Gained(db::ShardId shard) {
  const MutexLock lock(mutex_);
  owned_.insert(shard);
  for (const auto& dispatcher : dispatchers_) {
    if (const Status followed = dispatcher->Follow(shard); !followed.ok()) {
      dispatcher->Failed(shard, followed);
    }
  }
}

void Running::Lost(db::ShardId shard) {
  const MutexLock lock(mutex_);
  owned_.erase(shard);
  for (const auto& dispatcher : dispatchers_) dispatcher->RequestLeave(shard);
  for (const auto& dispatcher : dispatchers_) dispatcher->Leave(shard);
}

bool Running::Owns(db::ShardId shard) const {
  const MutexLock lock(mutex_);
  return owned_.contains(shard);
}

std::set<db::ShardId> Running::owned() const {
  const MutexLock lock(mutex_);
  return owned_;
}

}  // namespace sluice::function
