// For tests: waits until functions have done something, without looking again and again.
#pragma once

#include <chrono>

#include "base/signal.h"

namespace sluice::function {

class Progress {
 public:
  // For Services::progress.
  Signal* signal() { return &signal_; }

  // Returns when `holds()` is true, which is asked after each step of a function; false after a
  // time that is far longer than any test takes.
  template <typename Predicate>
  bool Await(Predicate holds) {
    const Clock::Time until = MachineClock().Now() + std::chrono::seconds(120);
    while (true) {
      const uint64_t seen = signal_.news();
      if (holds()) return true;
      if (signal_.Wait(seen, until) == Signal::Waited::kTimeout) return holds();
    }
  }

 private:
  Signal signal_;
};

}  // namespace sluice::function
