// Looks at work that may take too long: calls of scripts past their deadline, jobs that keep a
// thread from others. One thread looks at all of it, every few milliseconds while there is any, and
// sleeps otherwise.
//
// Lock order: the watchdog's mutex is held during a look, so that Leave waits for it. It comes
// before the locks that Look takes, so call Wake and Leave without these.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread.h"

namespace sluice {

class Watched;

// Any thread.
class Watchdog {
 public:
  // The watchdog sleeps again after it has seen no work for this time.
  static constexpr std::chrono::milliseconds kQuiet{500};

  // For the whole process, and as long as it: scripts may still be ended while it exits.
  static Watchdog& OfProcess();

  explicit Watchdog(const Clock& clock);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  friend class Watched;

  void WakeFor(Watched& watched);
  void Leave(Watched& watched);

  void Run();
  void LookAt(Watched& watched, uint64_t now_ns) REQUIRES(mutex_);
  void LookAtDue(uint64_t now_ns) REQUIRES(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Watched*> awake_ GUARDED_BY(mutex_);  // those that do not sleep
  uint64_t next_ns_ GUARDED_BY(mutex_) = 0;         // the next look at any of them
  bool ending_ GUARDED_BY(mutex_) = false;
  Thread thread_;
};

// Something that the watchdog looks at from a call of Wake until it has been at rest for a while.
class Watched {
 public:
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 protected:
  explicit Watched(std::chrono::milliseconds interval, Watchdog& watchdog = Watchdog::OfProcess())
      : watchdog_(watchdog), interval_(interval) {}
  virtual ~Watched();

  // Call it after the work has begun in a way that Look sees (a sequentially consistent store, or
  // under a mutex). Costs one atomic load, except for the first work after a rest.
  void Wake() {
    if (sleeps_.load()) watchdog_.WakeFor(*this);
  }
  // Look is not called after it, unless Wake is. Call it before the data that Look uses is
  // destroyed, and after the last call of Wake.
  void Leave() { watchdog_.Leave(*this); }

 private:
  friend class Watchdog;

  // On the watchdog's thread, at a time of its monotonic clock. Returns whether there is work. Must
  // not wait: all others wait for it.
  virtual bool Look(uint64_t now_ns) = 0;

  Watchdog& watchdog_;
  const std::chrono::nanoseconds interval_;  // from one look to the next
  std::atomic<bool> sleeps_ = true;          // changes under the watchdog's mutex
  // Guarded by the watchdog's mutex.
  uint64_t next_ns_ = 0;    // the next look
  uint64_t worked_ns_ = 0;  // the last look that saw work
};

}  // namespace sluice
