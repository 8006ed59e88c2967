#include "js/watchdog.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace sluice::js {
namespace {

constexpr std::chrono::milliseconds kInterval(10);
// It sleeps when it saw nothing armed so often.
constexpr int kQuietLooks = 100;

}  // namespace

// Lives as long as the process: scripts may still be ended while it exits.
Watchdog& Watchdog::Get() {
  static Watchdog* const watchdog = new Watchdog;
  return *watchdog;
}

Watchdog::Watchdog() {
  thread_ = std::thread([this] { Run(); });
}

Watched::Watched() { Watchdog::Get().Watch(this); }

void Watched::Leave() { Watchdog::Get().Leave(this); }

void Watched::Arm(uint64_t deadline_ns) {
  deadline_ns_ = deadline_ns;
  Watchdog::Get().Wake();
}

void Watchdog::Watch(Watched* watched) {
  const std::lock_guard lock(mutex_);
  watched_.push_back(watched);
}

void Watchdog::Leave(Watched* watched) {
  const std::lock_guard lock(mutex_);
  watched_.erase(std::find(watched_.begin(), watched_.end(), watched));
}

void Watchdog::WakeUp() {
  {
    const std::lock_guard lock(mutex_);
    sleeps_ = false;
  }
  wake_.notify_one();
}

void Watchdog::Run() {
  const SystemClock clock;
  int quiet = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    if (quiet > kQuietLooks) sleeps_ = true;
    // Who is armed from here on sees that it sleeps; who was before is seen now.
    const uint64_t now_ns = clock.MonotonicNs();
    bool armed = false;
    for (Watched* watched : watched_) armed |= watched->Look(now_ns);
    quiet = armed ? 0 : quiet + 1;
    if (armed) sleeps_ = false;
    wake_.wait(lock, [this] { return !sleeps_; });
    lock.unlock();
    std::this_thread::sleep_for(kInterval);
    lock.lock();
  }
}

}  // namespace sluice::js
