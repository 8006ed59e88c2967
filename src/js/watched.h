// Ends calls that run past their deadline, or that somebody wants to stop. The watchdog of the
// process looks at them (base/watchdog.h).
#pragma once

#include <atomic>
#include <cstdint>

#include <time.h>

#include "base/watchdog.h"

namespace sluice::js {

inline constexpr uint64_t kNoDeadline = 0;

// Something with a deadline. Arm and Disarm cost an atomic operation each. Call Leave before the
// data that End uses is destroyed; End is not called after it.
//
// V8 can lose a termination, for example while it makes the text of `error.stack`. So the watchdog
// calls End again at every look until Disarm.
class Watched : public sluice::Watched {
 public:
  Watched();

  // A deadline of the monotonic clock.
  void Arm(uint64_t deadline_ns) { ArmBy(CLOCK_MONOTONIC, deadline_ns); }
  // After so much time on a processor of the calling thread, which must be the one that disarms.
  void ArmForCpuTime(uint64_t ns);
  // True if the deadline had passed; then End has returned.
  bool Disarm() {
    uint64_t deadline_ns = deadline_ns_.load();
    while (deadline_ns == kEnding ||
           !deadline_ns_.compare_exchange_weak(deadline_ns, kNoDeadline)) {
      deadline_ns = deadline_ns_.load();
    }
    return deadline_ns == kEnded;
  }

 private:
  virtual void End() = 0;  // must only signal
  // Somebody wants it to end, whatever its deadline is. Also asked while it is not armed.
  virtual bool StopAsked() const = 0;

  void ArmBy(clockid_t clock, uint64_t deadline_ns);

  // False when it is not armed.
  bool Look(uint64_t now_ns) final {
    uint64_t deadline_ns = deadline_ns_.load();
    if (deadline_ns == kNoDeadline) return false;
    const bool over = deadline_ns == kEnded || OwnTime(now_ns) >= deadline_ns;
    if (!over && !StopAsked()) return true;
    if (deadline_ns_.compare_exchange_strong(deadline_ns, kEnding)) {
      End();
      deadline_ns_ = over ? kEnded : deadline_ns;
    }
    return true;
  }
  uint64_t OwnTime(uint64_t monotonic_ns) const;

  // Later than any time.
  static constexpr uint64_t kEnding = UINT64_MAX - 1;
  static constexpr uint64_t kEnded = UINT64_MAX;
  std::atomic<clockid_t> clock_ = CLOCK_MONOTONIC;  // that the deadline is of
  std::atomic<uint64_t> deadline_ns_ = kNoDeadline;
};

}  // namespace sluice::js
