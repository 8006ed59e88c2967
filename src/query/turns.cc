#include "query/turns.h"

#include <chrono>

#include "base/mutex.h"

namespace sluice::query {
namespace {

constexpr uint64_t kShortNs = std::chrono::nanoseconds(LongTurns::kShort).count();
// A statement that waits looks this often whether it must stop.
constexpr std::chrono::milliseconds kLookAgain(20);

}  // namespace

bool LongTurns::Enter(const std::function<bool()>& must_stop) {
  while (true) {
    const uint64_t seen = left_.news();
    size_t running = running_;
    while (running < most_) {
      if (running_.compare_exchange_weak(running, running + 1)) return true;
    }
    if (must_stop()) return false;
    left_.Wait(seen, MachineClock().Now() + kLookAgain);
  }
}

void LongTurns::Leave() {
  --running_;
  left_.Wake();
}

void Turn::Begin() { began_ns_ = turns_.clock_.MonotonicNs(); }

void Turn::End() {
  const MutexLock lock(mutex_);
  if (is_long_.exchange(false)) turns_.Leave();
}

void Turn::Check(const std::function<bool()>& must_stop) {
  if (is_long_ || turns_.clock_.MonotonicNs() - began_ns_ < kShortNs) return;
  const MutexLock lock(mutex_);
  if (is_long_) return;
  is_long_ = turns_.Enter(must_stop);
}

}  // namespace sluice::query
