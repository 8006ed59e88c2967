// The one rule for work that met a conflict, because somebody else changed what it had read: it
// runs again from its start, at most kMostAttempts times in all. The second run comes at once;
// later ones wait longer and longer, so that of many who write the same document one gets through.
//
//   for (ConflictRetry retry;;) {
//     ... read, compute ...
//     const Status status = database.Apply(commit).status;
//     if (!retry.Again(status)) return status;
//   }
//
// Followers of the log (functions, triggers) do not use it: they must not give up.
#pragma once

#include <chrono>

#include "base/status.h"

namespace sluice::db {

class ConflictRetry {
 public:
  static constexpr int kMostAttempts = 100;

  // Whether to run again what ended with `status`: it met a conflict and has attempts left. Waits
  // first; the thread's owner hears of that (base/wait_scope.h).
  bool Again(const Status& status);

  int attempt() const { return attempt_; }  // 1 in the first run

  // What follows the run number `attempt` when that met a conflict.
  static std::chrono::microseconds PauseAfter(int attempt);

 private:
  int attempt_ = 1;
};

}  // namespace sluice::db
