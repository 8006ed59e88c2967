// Stamps that only grow and stay close to the wall clock: nanoseconds since the epoch, whose low 16
// bits distinguish stamps of the same time. Any thread.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "db/types.h"

namespace sluice::db {

class HybridClock {
 public:
  // All stamps will be above `floor`, the highest one that an earlier process gave.
  HybridClock(const Clock& clock, Cas floor) : clock_(clock), last_(floor) {}

  Cas Next() {
    const Cas wall = clock_.WallNs() & ~Cas{0xffff};
    Cas last = last_.load(std::memory_order_relaxed);
    Cas next;
    do {
      next = last < wall ? wall : last + 1;
    } while (!last_.compare_exchange_weak(last, next, std::memory_order_relaxed));
    return next;
  }

  // All stamps from now on will be above `floor`.
  void Raise(Cas floor) {
    Cas last = last_.load(std::memory_order_relaxed);
    while (last < floor && !last_.compare_exchange_weak(last, floor, std::memory_order_relaxed)) {
    }
  }

 private:
  const Clock& clock_;
  std::atomic<Cas> last_;
};

}  // namespace sluice::db
