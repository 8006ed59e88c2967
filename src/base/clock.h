// Classes take their clock in the constructor, so that a test can set the time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sluice {

class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  // Nanoseconds since the Unix epoch. May jump when the machine's clock is set.
  virtual uint64_t WallNs() const = 0;
  // Nanoseconds since some fixed moment; never goes back.
  virtual uint64_t MonotonicNs() const = 0;
  // Waits until the condition is notified, monotonic time has come to `until_ns`, or for no reason.
  // Use CondVar::WaitFor and WaitUntil (base/mutex.h), which look again.
  virtual void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                         uint64_t until_ns) const {
    (void)until_ns;
    condition.wait_for(lock, kLookAgain);
  }

  uint64_t WallMs() const { return WallNs() / 1'000'000; }
  // Monotonic time with a type.
  Time Now() const { return Time(std::chrono::nanoseconds(MonotonicNs())); }

 private:
  // Nobody knows when a clock that is not the machine's will be moved.
  static constexpr std::chrono::milliseconds kLookAgain{1};
};

class SystemClock final : public Clock {
 public:
  uint64_t WallNs() const override {
    return static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  }
  uint64_t MonotonicNs() const override {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 uint64_t until_ns) const override {
    condition.wait_until(lock,
                         std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until_ns)));
  }
};

// For objects that a test gives another clock.
inline const Clock& MachineClock() {
  static const SystemClock clock;  // it has no state
  return clock;
}

// Stands still until somebody moves it. Any thread.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(uint64_t start_ms = 1'700'000'000'000) : ns_(start_ms * 1'000'000) {}
  uint64_t WallNs() const override { return ns_.load(); }
  uint64_t MonotonicNs() const override { return ns_.load(); }
  void AdvanceMs(uint64_t ms) { ns_.fetch_add(ms * 1'000'000); }

 private:
  std::atomic<uint64_t> ns_;
};

// Stands still while threads work, and jumps to the deadline of a thread that waits for one: what
// waits for an hour takes no time. Any thread.
class JumpingClock final : public Clock {
 public:
  explicit JumpingClock(uint64_t start_ms = 1'700'000'000'000) : ns_(start_ms * 1'000'000) {}
  uint64_t WallNs() const override { return ns_.load(); }
  uint64_t MonotonicNs() const override { return ns_.load(); }
  void WaitUntil(std::condition_variable&, std::unique_lock<std::mutex>&,
                 uint64_t until_ns) const override {
    uint64_t now_ns = ns_.load();
    while (now_ns < until_ns && !ns_.compare_exchange_weak(now_ns, until_ns)) {
    }
  }
  void Advance(std::chrono::nanoseconds time) { ns_ += static_cast<uint64_t>(time.count()); }

 private:
  mutable std::atomic<uint64_t> ns_;
};

// Wall time stands still until somebody moves it, and monotonic time goes on as the machine's: for
// work that runs for real, with real deadlines, at a time that somebody made up. Any thread.
class SteppedClock final : public Clock {
 public:
  explicit SteppedClock(uint64_t start_ms) : wall_ms_(start_ms) {}
  uint64_t WallNs() const override { return wall_ms_.load() * 1'000'000; }
  uint64_t MonotonicNs() const override { return machine_.MonotonicNs(); }
  void SetMs(uint64_t wall_ms) { wall_ms_.store(wall_ms); }

 private:
  const SystemClock machine_;
  std::atomic<uint64_t> wall_ms_;
};

}  // namespace sluice
