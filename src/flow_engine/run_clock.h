// The time of runs. Somebody may set the machine's wall clock while they run; this clock starts
// with its time and goes on as the monotonic clock does, so it never goes back. From a monotonic
// time you get the time of runs without another look at a clock.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace sluice::flow_engine {

class RunClock {
 public:
  explicit RunClock(const Clock& clock) : clock_(clock) { Adjust(); }

  const Clock& clock() const { return clock_; }
  uint64_t MonotonicNs() const { return clock_.MonotonicNs(); }
  uint64_t WallNsAt(uint64_t monotonic_ns) const {
    return monotonic_ns + ahead_ns_.load(std::memory_order_relaxed);
  }
  uint64_t MsAt(uint64_t monotonic_ns) const { return WallNsAt(monotonic_ns) / 1'000'000; }
  uint64_t NowMs() const { return MsAt(MonotonicNs()); }

  // By one thread, now and then: follows a wall clock that was set forward.
  void Adjust() {
    const uint64_t now_ns = clock_.MonotonicNs();
    const uint64_t wall_ns = clock_.WallNs();
    if (wall_ns > WallNsAt(now_ns)) ahead_ns_ = wall_ns - now_ns;
  }

 private:
  const Clock& clock_;
  std::atomic<uint64_t> ahead_ns_{0};
};

}  // namespace sluice::flow_engine
