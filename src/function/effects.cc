#include "function/effects.h"

namespace sluice::function {
namespace {

constexpr size_t kFullRows = 2000;
constexpr size_t kFullDocumentBytes = 16ull << 20;
constexpr size_t kFullTimerBytes = 16ull << 20;
constexpr size_t kFullFailureBytes = 16ull << 20;

}  // namespace

Effects::Savepoint Effects::Mark() const {
  return {documents_.Savepoint(), timers_.Savepoint(), counts_};
}

void Effects::RollbackTo(const Savepoint& savepoint) {
  documents_.RollbackTo(savepoint.documents);
  timers_.RollbackTo(savepoint.timers);
  counts_.timers_created = savepoint.counts.timers_created;
  counts_.timers_cancelled = savepoint.counts.timers_cancelled;
}

bool Effects::full() const {
  return documents_.writes() + timers_.rows() + failures_.rows() >= kFullRows ||
         timers_.bytes() >= kFullTimerBytes || documents_.bytes() >= kFullDocumentBytes ||
         failures_.bytes() >= kFullFailureBytes;
}

db::Commit Effects::TakeCommit() {
  db::Commit commit = documents_.TakeCommit();
  if (shard_) commit.shard = *shard_;
  timers_.MoveTo(&commit);
  failures_.MoveTo(&commit);
  return commit;
}

}  // namespace sluice::function
