// The functions that run, and the shards in which they do: those that the server owns.
//
// Concurrency: any thread. The mutex is held while functions begin or end in a shard, so that each
// runs in all owned shards and in no other, however deployments and shards come and go at the same
// time. Lost takes the time in which running handlers can be ended and their commits are answered.
#pragma once

#include <list>
#include <memory>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "db/ownership.h"
#include "function/dispatcher.h"
#include "script/stop_flag.h"

namespace sluice::function {

class Running final : public db::ShardTenant {
 public:
  // Lets the function run in all owned shards from now on. After an error it is stopped.
  Status Add(const std::shared_ptr<Dispatcher>& dispatcher);
  // Stops the function, wherever it runs.
  void Stop(const std::shared_ptr<Dispatcher>& dispatcher);

  // A call outside of events (OnDeploy) whose effects belong to a shard, for as long as this lives.
  class Call {
   public:
    Call(Call&& other) noexcept
        : running_(std::exchange(other.running_, nullptr)), at_(other.at_) {}
    Call& operator=(Call&&) = delete;
    ~Call() {
      if (running_ != nullptr) running_->End(at_);
    }

   private:
    friend class Running;
    struct Entry {
      db::ShardId shard = 0;
      script::StopFlag stop;
    };
    Call(Running& running, std::list<Entry>::iterator at) : running_(&running), at_(at) {}
    Running* running_;
    std::list<Entry>::iterator at_;
  };
  // The flag ends the call when the shard is lost. Error function.not_owner when the server does
  // not own the shard.
  Result<Call> BeginCall(db::ShardId shard, script::StopFlag stop);

  void Gained(db::ShardId shard) override;
  void Lost(db::ShardId shard) override;

  bool Owns(db::ShardId shard) const;
  std::set<db::ShardId> owned() const;

 private:
  void End(std::list<Call::Entry>::iterator call);

  mutable Mutex mutex_;
  CondVar ended_;  // a call
  std::list<Call::Entry> calls_ GUARDED_BY(mutex_);
  std::set<db::ShardId> owned_ GUARDED_BY(mutex_);
  std::set<std::shared_ptr<Dispatcher>> dispatchers_ GUARDED_BY(mutex_);
};

}  // namespace sluice::function
