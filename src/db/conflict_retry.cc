#include "db/conflict_retry.h"

#include <algorithm>

#include "base/signal.h"
#include "base/wait_scope.h"

namespace sluice::db {

bool ConflictRetry::Again(const Status& status) {
  if (status.code() != Code::kConflict || attempt_ >= kMostAttempts) return false;
  if (const auto pause = PauseAfter(attempt_); pause.count() > 0) {
    const WaitScope waits;
    Signal(clock_).Wait(0, clock_.Now() + pause);  // nothing wakes it: the time ends the wait
  }
  ++attempt_;
  return true;
}

std::chrono::microseconds ConflictRetry::PauseAfter(int attempt) {
  constexpr int kMostDoublings = 8;  // 25.6 ms
  if (attempt <= 1) return {};
  return std::chrono::microseconds(100 << std::min(attempt - 1, kMostDoublings));
}

}  // namespace sluice::db
