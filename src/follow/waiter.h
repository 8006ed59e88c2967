// How the threads of followers wait, so that a test of "nothing happens for an hour" takes no time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace sluice::follow {

// Any thread.
class Waiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Waiter() = default;
  virtual Time Now() const = 0;
  // As condition_variable::wait_until: whether `done` is true now.
  virtual bool WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                         Time deadline, const std::function<bool()>& done) = 0;
};

// The machine's time.
class SystemWaiter final : public Waiter {
 public:
  Time Now() const override { return std::chrono::steady_clock::now(); }
  bool WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                 Time deadline, const std::function<bool()>& done) override {
    return changed.wait_until(lock, deadline, done);
  }
  static SystemWaiter& Instance() {
    static SystemWaiter waiter;  // it has no state
    return waiter;
  }
};

}  // namespace sluice::follow
