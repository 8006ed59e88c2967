#include "js/watchdog.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace sluice::js {
namespace {

constexpr std::chrono::milliseconds kInterval(10);

}  // namespace

// Lives as long as the process: scripts may still be ended while it exits.
Watchdog& Watchdog::Get() {
  static Watchdog* const watchdog = new Watchdog;
  return *watchdog;
}

Watchdog::Watchdog() {
  thread_ = std::thread([this] { Run(); });
}

void Watchdog::Watch(Watched* watched) {
  const std::lock_guard lock(mutex_);
  watched_.push_back(watched);
  if (watched_.size() == 1) wake_.notify_one();
}

void Watchdog::Leave(Watched* watched) {
  const std::lock_guard lock(mutex_);
  watched_.erase(std::find(watched_.begin(), watched_.end(), watched));
}

void Watchdog::Run() {
  const SystemClock clock;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return !watched_.empty(); });
    const uint64_t now_ns = clock.MonotonicNs();
    for (Watched* watched : watched_) watched->Look(now_ns);
    lock.unlock();
    std::this_thread::sleep_for(kInterval);
    lock.lock();
  }
}

}  // namespace sluice::js
