// The effects of a batch of invocations, kept until they are committed as a whole: documents,
// timers and failed events.
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
  // The commit belongs to the shard; none: to that of its documents. `owner` owns the timers and
  // `failures_owner` the failures. Without the latter no failure can be added.
  Effects(db::Database& database, std::optional<db::ShardId> shard, std::string owner,
          std::string failures_owner = "")
      : shard_(shard),
        documents_(database, db::Isolation::kSnapshot),
        timers_(database, shard.value_or(db::kDefinitionsShard), std::move(owner)),
        failures_(database, shard.value_or(db::kDefinitionsShard), std::move(failures_owner)) {}

  // Counts that go to the statistics with the commit, so that an event that runs again counts once.
  struct Counts {
    uint64_t timers_created = 0;
    uint64_t timers_cancelled = 0;
    // RollbackTo keeps these.
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
  // The one of the commit, if it is known already.
  std::optional<db::ShardId> shard() const { return shard_; }
  // RollbackTo keeps these, too: the failure of an invocation is added after its rollback.
  failure::WriteSet& failures() { return failures_; }
  Counts& counts() { return counts_; }

  struct Savepoint {
    size_t documents = 0;
    size_t timers = 0;
    Counts counts;
  };
  Savepoint Mark() const;
  void RollbackTo(const Savepoint& savepoint);
  // The same for an event that runs again: its counts go, too.
  void UndoTo(const Savepoint& savepoint) {
    RollbackTo(savepoint);
    counts_ = savepoint.counts;
  }

  // Commit before you add more. The bound is far below that of a commit.
  bool full() const;
  db::Commit TakeCommit();

 private:
  const std::optional<db::ShardId> shard_;
  db::Transaction documents_;
  timer::WriteSet timers_;
  failure::WriteSet failures_;
  Counts counts_;
};

}  // namespace sluice::function
