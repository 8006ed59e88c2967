#include "query/atomic_run.h"

#include <utility>

#include "db/conflict_retry.h"
#include "query/references.h"

namespace sluice::query {
namespace {

class AtomicRun final : public Run {
 public:
  AtomicRun(QueryEngine& engine, AtomicRunOptions options, RunMaker make)
      : engine_(engine), options_(options), make_(std::move(make)) {}

  bool Next() override {
    if (!std::exchange(ran_, true)) status_ = RunAll();
    return status_.ok() && ++position_ <= rows_.size();
  }
  const Value& row() const override { return rows_[position_ - 1]; }
  Status status() const override { return status_; }
  const std::vector<Status>& row_errors() const override { return errors_; }
  const std::vector<Warning>& warnings() const override { return warnings_; }
  uint64_t mutations() const override { return status_.ok() ? mutations_ : 0; }
  uint64_t sorted() const override { return sorted_; }
  Value profile() const override { return profile_; }

 private:
  Status RunAll() {
    if (options_.transaction != nullptr) return RunIn(*options_.transaction);
    for (db::ConflictRetry retry;;) {
      db::Transaction transaction(engine_.database());
      RETURN_IF_ERROR(RunOnce(transaction));
      if (transaction.writes() == 0) return OkStatus();
      const Status applied = transaction.Apply().status;
      if (retry.Again(applied)) continue;
      if (applied.code() != Code::kConflict) return TableError(applied);
      return QueryError(QueryCode::kCommitConflict,
                        "the statement met a conflict {} times; the last one: {}", retry.attempt(),
                        applied.message());
    }
  }

  Status RunIn(db::Transaction& transaction) {
    const size_t before = transaction.Savepoint();
    const Status status = RunOnce(transaction);
    if (!status.ok()) transaction.RollbackTo(before);
    return status;
  }

  Status RunOnce(db::Transaction& transaction) {
    rows_.clear();
    std::vector<RowChange> changes;
    ASSIGN_OR_RETURN(const std::unique_ptr<Run> run,
                     make_(transaction, options_.references ? &changes : nullptr));
    while (run->Next()) rows_.push_back(run->row());
    warnings_ = run->warnings();
    mutations_ = run->mutations();
    sorted_ = run->sorted();
    profile_ = run->profile();
    RETURN_IF_ERROR(run->status());
    if (!run->row_errors().empty()) return run->row_errors()[0];
    if (changes.empty()) return OkStatus();
    return TableError(KeepReferences(engine_, transaction, std::move(changes)));
  }

  QueryEngine& engine_;
  const AtomicRunOptions options_;
  const RunMaker make_;
  bool ran_ = false;
  Status status_;
  std::vector<Value> rows_;
  size_t position_ = 0;
  const std::vector<Status> errors_;
  std::vector<Warning> warnings_;
  uint64_t mutations_ = 0;
  uint64_t sorted_ = 0;
  Value profile_;
};

}  // namespace

std::unique_ptr<Run> MakeAtomicRun(QueryEngine& engine, AtomicRunOptions options, RunMaker make) {
  return std::make_unique<AtomicRun>(engine, options, std::move(make));
}

}  // namespace sluice::query
