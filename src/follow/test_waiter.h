// A waiter for tests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "follow/waiter.h"

namespace sluice::follow {

// Time stands still while threads work, and jumps to the deadline of a thread that waits for one.
class FakeWaiter final : public Waiter {
 public:
  Time Now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  bool WaitUntil(std::condition_variable&, std::unique_lock<std::mutex>&, Time deadline,
                 const std::function<bool()>& done) override {
    if (done()) return true;
    const std::lock_guard lock(mutex_);
    if (deadline > now_) now_ = deadline;
    return false;
  }
  void Advance(std::chrono::nanoseconds time) {
    const std::lock_guard lock(mutex_);
    now_ += time;
  }

 private:
  mutable std::mutex mutex_;
  Time now_{std::chrono::hours(1)};  // guarded by mutex_
};

}  // namespace sluice::follow
