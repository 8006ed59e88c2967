#include "js/watchdog.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <pthread.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace sluice::js {
namespace {

constexpr std::chrono::milliseconds kInterval(10);
// It sleeps when it saw nothing armed so often.
constexpr int kQuietLooks = 100;

std::optional<uint64_t> TimeOf(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

// Lives as long as the process: scripts may still be ended while it exits.
Watchdog& Watchdog::Get() {
  static Watchdog* const watchdog = new Watchdog;
  return *watchdog;
}

Watchdog::Watchdog() {
  thread_ = Thread({"js watchdog"}, [this] { Run(); });
}

Watched::Watched() { Watchdog::Get().Watch(this); }

void Watched::Leave() { Watchdog::Get().Leave(this); }

void Watched::ArmBy(clockid_t clock, uint64_t deadline_ns) {
  clock_.store(clock, std::memory_order_relaxed);  // visible to a thread that sees the deadline
  deadline_ns_ = deadline_ns;
  Watchdog::Get().Wake();
}

void Watched::ArmForCpuTime(uint64_t ns) {
  clockid_t clock = CLOCK_MONOTONIC;
  CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0);
  ArmBy(clock, TimeOf(clock).value_or(0) + ns);
}

// A thread that has ended has no clock; its call is no longer armed.
uint64_t Watched::OwnTime(uint64_t monotonic_ns) const {
  const clockid_t clock = clock_.load(std::memory_order_relaxed);
  return clock == CLOCK_MONOTONIC ? monotonic_ns : TimeOf(clock).value_or(0);
}

void Watchdog::Watch(Watched* watched) {
  const MutexLock lock(mutex_);
  watched_.push_back(watched);
}

void Watchdog::Leave(Watched* watched) {
  const MutexLock lock(mutex_);
  watched_.erase(std::find(watched_.begin(), watched_.end(), watched));
}

void Watchdog::WakeUp() {
  {
    const MutexLock lock(mutex_);
    sleeps_ = false;
  }
  wake_.NotifyOne();
}

void Watchdog::Run() {
  const SystemClock clock;
  int quiet = 0;
  MutexLock lock(mutex_);
  while (true) {
    if (quiet > kQuietLooks) sleeps_ = true;
    // A call that is armed from here on sees that the watchdog sleeps; earlier ones are seen below.
    const uint64_t now_ns = clock.MonotonicNs();
    bool armed = false;
    for (Watched* watched : watched_) armed |= watched->Look(now_ns);
    quiet = armed ? 0 : quiet + 1;
    if (armed) sleeps_ = false;
    wake_.Wait(lock, [this]() REQUIRES(mutex_) { return !sleeps_; });
    lock.Unlock();
    std::this_thread::sleep_for(kInterval);
    lock.Lock();
  }
}

}  // namespace sluice::js
