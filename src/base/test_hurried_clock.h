// For tests.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace sluice {

// Jumps to the deadline of a thread that waits for one, as JumpingClock. Between two waits others
// can take the thread's lock.
class HurriedClock final : public Clock {
 public:
  uint64_t WallNs() const override { return ns_; }
  uint64_t MonotonicNs() const override { return ns_; }
  void WaitUntil(std::condition_variable&, std::unique_lock<std::mutex>& lock,
                 uint64_t until_ns) const override {
    lock.unlock();
    ns_ = until_ns;
    std::this_thread::yield();
    lock.lock();
  }

 private:
  mutable std::atomic<uint64_t> ns_ = 1;
};

}  // namespace sluice
