// The timers of runs, and jobs that run later.
//
// Concurrency: any thread. One thread waits, and posts due jobs to the pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/locked.h"
#include "base/signal.h"
#include "base/thread.h"
#include "flow_engine/live_run.h"
#include "flow_engine/run_clock.h"
#include "flow_engine/run_threads.h"

namespace sluice::flow_engine {

class RunTimers {
 public:
  using OnDue = std::function<void(const LiveRunPtr& run)>;

  // `on_due` is called on a thread of `threads`. Both outlive this.
  RunTimers(RunClock& time, RunThreads& threads, OnDue on_due);
  ~RunTimers() { Stop(); }

  // None: the run has no timer.
  void Set(LiveRun& run, std::optional<uint64_t> due_ms) REQUIRES(run.mutex);

  // A job that is run later, unless it is dropped before.
  using LaterId = std::pair<uint64_t, uint64_t>;  // when, and a number
  LaterId NewLater(uint64_t at_ms) { return {at_ms, ++last_later_}; }
  void RunLater(LaterId id, Pool::Job job);
  void Drop(LaterId id);

  // Drops all timers and jobs. Returns the runs that had a timer.
  std::vector<LiveRunPtr> Stop();

 private:
  struct Waiting {
    std::set<std::pair<uint64_t, LiveRunPtr>> runs;  // by LiveRun::timer_ms
    std::map<LaterId, Pool::Job> later;
    uint64_t thread_wakes_ms = 0;  // by itself, at the latest
    bool stopping = false;

    // Whether the thread must be woken for a timer of that time.
    bool MustWakeFor(uint64_t due_ms);
    // When the first one is due; UINT64_MAX: there is none.
    uint64_t first_ms() const;
  };
  void Loop();
  void PostDue(const LiveRunPtr& run);

  RunClock& time_;
  RunThreads& threads_;
  const OnDue on_due_;
  std::atomic<uint64_t> last_later_{0};

  Locked<Waiting> waiting_;
  Signal wake_;
  Thread thread_;
};

}  // namespace sluice::flow_engine
