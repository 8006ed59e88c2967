#include "query/turns.h"

#include <chrono>

#include "base/mutex.h"

namespace sluice::query {
namespace {

// The longest time of a short statement.
constexpr uint64_t kShortNs = 100'000'000;
constexpr std::chrono::milliseconds kLookAgain(20);

}  // namespace

void Turn::Begin() { began_ns_ = turns_.clock_.MonotonicNs(); }

void Turn::End() {
  const MutexLock lock(mutex_);
  if (is_long_.exchange(false)) {
    {
      const MutexLock all(turns_.mutex_);
      --turns_.running_;
    }
    turns_.free_.NotifyOne();
  }
  if (!lent_) return;
  lent_ = false;
  turns_.lender_.give_back();
}

void Turn::Check(const std::function<bool()>& must_stop) {
  if (is_long_ || turns_.clock_.MonotonicNs() - began_ns_ < kShortNs) return;
  const MutexLock lock(mutex_);
  if (is_long_) return;
  if (!lent_) {
    lent_ = true;
    turns_.lender_.lend();
  }
  MutexLock all(turns_.mutex_);
  while (turns_.running_ >= turns_.most_) {
    if (must_stop()) return;
    turns_.free_.WaitFor(all, kLookAgain);
  }
  ++turns_.running_;
  is_long_ = true;
}

}  // namespace sluice::query
