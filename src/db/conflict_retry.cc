#include "db/conflict_retry.h"

#include <algorithm>
#include <thread>

#include "base/wait_scope.h"

namespace sluice::db {

bool ConflictRetry::Again(const Status& status) {
  if (status.code() != Code::kConflict || attempt_ >= kMostAttempts) return false;
  if (const auto pause = PauseAfter(attempt_); pause.count() > 0) {
    const WaitScope waits;
    std::this_thread::sleep_for(pause);
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
