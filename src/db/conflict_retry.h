// The one rule for work that met a conflict, because another commit changed a document that it had
// read: it runs again from its start, at most kMostAttempts times in all. The second run comes at
// once; later ones wait longer and longer, so that of many writers of one document one succeeds.
//
//   for (ConflictRetry retry;;) {
//     ... read, compute ...
//     const Status status = database.Apply(commit).status;
//     if (!retry.Again(status)) return status;
//   }
//
// Followers of the log use its pauses only, and try ten times as often (follow/batch_runner.h).
#pragma once

#include <chrono>

#include "base/clock.h"
#include "base/status.h"

namespace sluice::db {

class ConflictRetry {
 public:
  static constexpr int kMostAttempts = 100;

  // Pauses go by the clock.
  explicit ConflictRetry(const Clock& clock = MachineClock()) : clock_(clock) {}

  // True: the work ended with a conflict and has attempts left, so run it again. The pause is over
  // then; the thread's owner is notified of it (base/wait_scope.h).
  bool Again(const Status& status);

  int attempt() const { return attempt_; }  // 1 in the first run

  // The pause after a conflict of the run number `attempt`.
  static std::chrono::microseconds PauseAfter(int attempt);

 private:
  const Clock& clock_;
  int attempt_ = 1;
};

}  // namespace sluice::db
