// The durable runs in memory, by id. Only shards that this server owns have any.
//
// Concurrency: any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flow_engine/live_run.h"

namespace sluice::flow_engine {

class LiveRuns {
 public:
  // From now on the shard may have runs.
  void Open(db::ShardId shard);
  // From now on none is added in the shard. Returns those that are there; waits for runs that are
  // being handed over.
  std::vector<LiveRunPtr> Close(db::ShardId shard);
  std::set<db::ShardId> shards() const;  // the open ones

  // False: there is one with its id, or its shard is not open.
  bool Add(const LiveRunPtr& run);
  // Null: there is none. Waits while the run is being handed over.
  LiveRunPtr Find(const std::string& id);
  bool Contains(const std::string& id) const;
  // Does nothing if it is not there.
  void Remove(const LiveRun& run);
  // If `leaves` returns true, removes the run and calls `hand_over`, which gives it to another
  // keeper. Find waits until that is done.
  void HandOver(const LiveRun& run, const std::function<bool()>& leaves,
                const std::function<void()>& hand_over);
  // Waits until the run is not here any more.
  void WaitUntilGone(const LiveRun& run);
  // Waits until there is no run with this id.
  void WaitUntilGone(const std::string& id);
  // Removes all, which ends the waits.
  void Clear();

  size_t size() const;
  std::vector<LiveRunPtr> All() const;

 private:
  void Erase(const std::string& id) REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar changed_;
  size_t waiting_ GUARDED_BY(mutex_) = 0;  // threads that wait for changed_
  std::set<db::ShardId> shards_ GUARDED_BY(mutex_);
  // By id. Null: the run is being handed over.
  std::map<std::string, LiveRunPtr, std::less<>> runs_ GUARDED_BY(mutex_);
};

}  // namespace sluice::flow_engine
