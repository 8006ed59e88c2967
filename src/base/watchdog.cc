// Invariant: under the mutex, a watched object is in awake_ if and only if its sleeps_ is false.
//
// No work is missed: before the look that may put an object to sleep, sleeps_ is set. Work that
// began earlier is seen by this look; work that begins later sees sleeps_ and wakes the watchdog.
#include "base/watchdog.h"

#include <algorithm>

#include "base/check.h"

namespace sluice {
namespace {

// Looks are at multiples of the interval, so that those at many objects fall together and the
// thread wakes up seldom.
uint64_t NextLook(uint64_t now_ns, std::chrono::nanoseconds interval) {
  const auto interval_ns = static_cast<uint64_t>(interval.count());
  return (now_ns / interval_ns + 1) * interval_ns;
}

}  // namespace

Watchdog& Watchdog::OfProcess() {
  static Watchdog* const watchdog = new Watchdog(MachineClock());
  return *watchdog;
}

Watchdog::Watchdog(const Clock& clock) : clock_(clock) {
  thread_ = Thread({"watchdog"}, [this] { Run(); });
}

Watchdog::~Watchdog() {
  {
    const MutexLock lock(mutex_);
    CHECK(awake_.empty());
    ending_ = true;
  }
  changed_.NotifyOne();
  thread_.join();
}

void Watchdog::WakeFor(Watched& watched) {
  {
    const MutexLock lock(mutex_);
    if (!watched.sleeps_.load()) return;
    const uint64_t now_ns = clock_.MonotonicNs();
    watched.worked_ns_ = now_ns;
    watched.next_ns_ = NextLook(now_ns, watched.interval_);
    watched.sleeps_ = false;
    awake_.push_back(&watched);
    if (awake_.size() > 1 && next_ns_ <= watched.next_ns_) return;
    next_ns_ = watched.next_ns_;
  }
  changed_.NotifyOne();
}

void Watchdog::Leave(Watched& watched) {
  const MutexLock lock(mutex_);
  if (watched.sleeps_.exchange(true)) return;
  std::erase(awake_, &watched);
}

void Watchdog::Run() {
  const MutexLock lock(mutex_);
  while (!ending_) {
    if (awake_.empty()) {
      changed_.Wait(lock, [this]() REQUIRES(mutex_) { return ending_ || !awake_.empty(); });
      continue;
    }
    const uint64_t next_ns = next_ns_;
    const bool changed =
        changed_.WaitUntil(lock, clock_, Clock::Time(std::chrono::nanoseconds(next_ns)),
                           [&]() REQUIRES(mutex_) { return ending_ || next_ns_ != next_ns; });
    if (!changed) LookAtDue(clock_.MonotonicNs());
  }
}

void Watchdog::LookAtDue(uint64_t now_ns) {
  for (Watched* const watched : awake_) {
    if (watched->next_ns_ <= now_ns) LookAt(*watched, now_ns);
  }
  std::erase_if(awake_, [](const Watched* watched) { return watched->sleeps_.load(); });
  next_ns_ = UINT64_MAX;
  for (const Watched* const watched : awake_) next_ns_ = std::min(next_ns_, watched->next_ns_);
}

void Watchdog::LookAt(Watched& watched, uint64_t now_ns) {
  watched.next_ns_ = NextLook(now_ns, watched.interval_);
  const bool may_sleep = now_ns >= watched.worked_ns_ + std::chrono::nanoseconds(kQuiet).count();
  if (may_sleep) watched.sleeps_ = true;
  if (!watched.Look(now_ns)) return;
  watched.worked_ns_ = now_ns;
  if (may_sleep) watched.sleeps_ = false;
}

Watched::~Watched() { CHECK(sleeps_.load()); }

}  // namespace sluice
