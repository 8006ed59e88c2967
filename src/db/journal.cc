#include "db/journal.h"

#include "db/shard_state.h"

namespace sluice::db {

void EmbeddedJournal::Append(ShardId, Sequence, Sequence, storage::Batch* group, Done done) {
  Status written = store_.Write(group, sync_);
  const Outcome outcome = written.ok() ? Outcome::kCommitted : Outcome::kFailed;
  done({outcome, std::move(written)});
}

Result<Journal::Position> EmbeddedJournal::Last(ShardId shard) {
  ASSIGN_OR_RETURN(const ShardState state, ShardState::Load(store_, shard));
  return Position{state.sequence, false};
}

}  // namespace sluice::db
