// The durable runs in memory, by id.
//
// Concurrency: any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "flow_engine/live_run.h"

namespace sluice::flow_engine {

class LiveRuns {
 public:
  // False: there is one with its id.
  bool Add(const LiveRunPtr& run);
  // Null: there is none. Waits for a run that is being handed over.
  LiveRunPtr Find(const std::string& id);
  bool Contains(const std::string& id) const;
  // Does nothing if it is not there.
  void Remove(const LiveRun& run);
  // Removes it if `leaves` says so, then hands it over to whoever keeps it from now on: Find waits
  // until that is done.
  void HandOver(const LiveRun& run, const std::function<bool()>& leaves,
                const std::function<void()>& hand_over);
  // Until the run is not here any more.
  void WaitUntilGone(const LiveRun& run);
  // The same, of a run with this id.
  void WaitUntilGone(const std::string& id);
  // All are gone, and nobody waits.
  void Clear();

  size_t size() const;
  std::vector<LiveRunPtr> All() const;
  std::set<std::string> AppVersions() const;

 private:
  void Erase(const std::string& id);  // under mutex_

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t waiting_ = 0;                                   // for changed_; under mutex_
  std::map<std::string, LiveRunPtr, std::less<>> runs_;  // null: is being handed over; under mutex_
};

}  // namespace sluice::flow_engine
