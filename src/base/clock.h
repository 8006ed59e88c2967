// Time comes in through constructors, so that a test decides what time it is.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sluice {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since the Unix epoch. May jump when the machine's clock is set.
  virtual uint64_t WallNs() const = 0;
  // Nanoseconds since some fixed moment; never goes back.
  virtual uint64_t MonotonicNs() const = 0;

  uint64_t WallMs() const { return WallNs() / 1'000'000; }
};

class SystemClock final : public Clock {
 public:
  uint64_t WallNs() const override {
    return static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  }
  uint64_t MonotonicNs() const override {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
};

// Stands still until told to move. Any thread.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(uint64_t start_ms = 1'700'000'000'000) : ns_(start_ms * 1'000'000) {}
  uint64_t WallNs() const override { return ns_.load(); }
  uint64_t MonotonicNs() const override { return ns_.load(); }
  void AdvanceMs(uint64_t ms) { ns_.fetch_add(ms * 1'000'000); }

 private:
  std::atomic<uint64_t> ns_;
};

}  // namespace sluice
