#include "query/exec/mutator.h"

#include <latch>
#include <utility>

namespace sluice::query {
namespace {

WriteOutcome OutcomeOf(Status status, db::Cas cas = 0) {
  WriteOutcome outcome;
  outcome.status = std::move(status);
  outcome.cas = cas;
  return outcome;
}

}  // namespace

std::vector<WriteOutcome> Mutator::Apply(std::vector<db::Write> writes) {
  std::vector<WriteOutcome> outcomes(writes.size());
  if (transaction_ != nullptr) {
    for (size_t i = 0; i < writes.size(); ++i) {
      outcomes[i] = ApplyInTransaction(std::move(writes[i]));
    }
    return outcomes;
  }
  std::latch unanswered(static_cast<std::ptrdiff_t>(writes.size()));
  for (size_t i = 0; i < writes.size(); ++i) {
    db::Commit commit;
    commit.shard = database_.ShardOf(writes[i].keyspace, writes[i].key);
    commit.actor = actor_;
    commit.writes.push_back(std::move(writes[i]));
    database_.Submit(std::move(commit), [&outcomes, &unanswered, i](db::CommitResult result) {
      WriteOutcome& outcome = outcomes[i];
      outcome.status = std::move(result.status);
      if (!result.writes.empty()) {
        outcome.cas = result.writes[0].cas;
        outcome.violation = std::move(result.writes[0].violation);
        outcome.diverted_to = std::move(result.writes[0].diverted_to);
      }
      unanswered.count_down();
    });
  }
  unanswered.wait();
  return outcomes;
}

// A row that is inserted has no condition: its key is new.
Status Mutator::Note(const db::Write& write) {
  RowChange change{.table = write.keyspace, .key = write.key};
  if (write.precondition.kind != db::Precondition::Kind::kNone) {
    ASSIGN_OR_RETURN(auto row, transaction_->Get(write.keyspace, write.key));
    if (row) change.before = std::move(row->body);
  }
  if (write.kind != db::Write::Kind::kDelete) change.after = write.document.body;
  changes_->push_back(std::move(change));
  return OkStatus();
}

WriteOutcome Mutator::ApplyInTransaction(db::Write write) {
  using Kind = db::Precondition::Kind;
  if (changes_ != nullptr) {
    if (Status noted = Note(write); !noted.ok()) return OutcomeOf(std::move(noted));
  }
  if (write.kind == db::Write::Kind::kDelete) {
    return OutcomeOf(transaction_->Delete(write.keyspace, write.key));
  }
  Result<db::Cas> cas =
      write.precondition.kind == Kind::kAbsent
          ? transaction_->Insert(write.keyspace, write.key, std::move(write.document))
          : transaction_->Put(write.keyspace, write.key, std::move(write.document));
  if (!cas) return OutcomeOf(cas.error());
  return OutcomeOf(OkStatus(), *cas);
}

void Mutator::AddError(Status status) {
  if (errors_.size() < kMaxErrors) errors_.push_back(std::move(status));
}

}  // namespace sluice::query
