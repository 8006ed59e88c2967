// The functions that run, and the shards in which they do: those that the server owns.
//
// Concurrency: any thread. The mutex is held while functions begin or end in a shard, so that each
// runs in all owned shards and in no other, however deployments and shards come and go at the same
// time. Lost takes the time in which running handlers can be ended and their commits are answered.
#pragma once

#include <memory>
#include <set>

#include "base/mutex.h"
#include "base/status.h"
#include "db/ownership.h"
#include "function/dispatcher.h"

namespace sluice::function {

class Running final : public db::ShardTenant {
 public:
  // Lets the function run in all owned shards from now on. After an error it is stopped.
  Status Add(const std::shared_ptr<Dispatcher>& dispatcher);
  // Stops the function, wherever it runs.
  void Stop(const std::shared_ptr<Dispatcher>& dispatcher);

  void Gained(db::ShardId shard) override;
  void Lost(db::ShardId shard) override;

  bool Owns(db::ShardId shard) const;
  std::set<db::ShardId> owned() const;

 private:
  mutable Mutex mutex_;
  std::set<db::ShardId> owned_ GUARDED_BY(mutex_);
  std::set<std::shared_ptr<Dispatcher>> dispatchers_ GUARDED_BY(mutex_);
};

}  // namespace sluice::function
