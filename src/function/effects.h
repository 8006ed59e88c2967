// What a batch of invocations does until it is committed as a whole: its documents, its timers and
// those of its events that failed.
//
// One thread.
#pragma once

#include <cstdint>
#include <string>

#include "db/transaction.h"
#include "failure/write_set.h"
#include "timer/write_set.h"

namespace sluice::function {

class Effects {
 public:
  // `owner` has the timers, `failures_owner` the failures; none can be kept without one.
  Effects(db::Database& database, std::string owner, std::string failures_owner = "")
      : documents_(database, db::Isolation::kSnapshot),
        timers_(database, std::move(owner)),
        failures_(database, std::move(failures_owner)) {}

  // What is counted when the effects are committed, so that what is run again counts once.
  struct Counts {
    uint64_t timers_created = 0;
    uint64_t timers_cancelled = 0;
    // These stay when an invocation is rolled back.
    uint64_t on_update_success = 0;
    uint64_t on_update_failure = 0;
    uint64_t on_delete_success = 0;
    uint64_t on_delete_failure = 0;
    uint64_t timeouts = 0;
    uint64_t contexts_too_large = 0;
    uint64_t timers_due = 0;
    uint64_t callback_success = 0;
    uint64_t callback_failure = 0;
    uint64_t callback_missing = 0;
    uint64_t retry_success = 0;
    uint64_t retry_failure = 0;
  };

  db::Transaction& documents() { return documents_; }
  timer::WriteSet& timers() { return timers_; }
  // Not undone by RollbackTo: that one's own failure is noted after it.
  failure::WriteSet& failures() { return failures_; }
  Counts& counts() { return counts_; }

  struct Savepoint {
    size_t documents = 0;
    size_t timers = 0;
    Counts counts;
  };
  Savepoint Mark() const;
  void RollbackTo(const Savepoint& savepoint);
  // The same of an event that is run again: nothing of it is counted.
  void UndoTo(const Savepoint& savepoint) {
    RollbackTo(savepoint);
    counts_ = savepoint.counts;
  }

  // It should be committed before more is added; far below what a commit may have.
  bool full() const;
  db::Commit TakeCommit();

 private:
  db::Transaction documents_;
  timer::WriteSet timers_;
  failure::WriteSet failures_;
  Counts counts_;
};

}  // namespace sluice::function
