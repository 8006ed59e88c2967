#include "function/running.h"

#include <algorithm>

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

Result<Running::Call> Running::BeginCall(db::ShardId shard, script::StopFlag stop) {
  const MutexLock lock(mutex_);
  if (!owned_.contains(shard)) {
    return Fail(Code::kUnavailable, "function.not_owner",
                "this server does not own shard {}, in which the call would take effect", shard);
  }
  return Call(*this, calls_.insert(calls_.end(), {shard, std::move(stop)}));
}

void Running::End(std::list<Call::Entry>::iterator call) {
  const MutexLock lock(mutex_);
  calls_.erase(call);
  ended_.NotifyAll();
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
  for (const Call::Entry& call : calls_) {
    if (call.shard == shard) *call.stop = true;
  }
  for (const auto& dispatcher : dispatchers_) dispatcher->RequestLeave(shard);
  for (const auto& dispatcher : dispatchers_) dispatcher->Leave(shard);
  ended_.Wait(lock, [&]() REQUIRES(mutex_) {
    return std::ranges::none_of(calls_, [&](const auto& call) { return call.shard == shard; });
  });
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
