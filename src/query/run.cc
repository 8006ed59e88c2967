#include "query/run.h"

#include <algorithm>
#include <utility>

#include "db/reader.h"
#include "query/atomic_run.h"
#include "query/exec/context.h"
#include "query/exec/mutator.h"
#include "query/exec/profile.h"
#include "query/references.h"
#include "query/system_tables.h"

namespace sluice::query {
namespace {

std::unique_ptr<db::Reader> ReaderOf(QueryEngine& engine, const StatementPlan& plan,
                                     const RunRequest& request) {
  if (request.transaction != nullptr) return db::NewTransactionReader(*request.transaction);
  // A statement must not read its own writes: it reads the state before its first write.
  return plan.kind == StatementKind::kSelect ? db::NewLateReader(engine.database())
                                             : db::NewSnapshotReader(engine.database());
}

size_t MemoryLimitOf(const QueryEngine& engine, const RunRequest& request) {
  const size_t most = engine.options().memory_limit_bytes;
  const size_t asked = static_cast<size_t>(request.memory_limit_mib) << 20;
  return asked == 0 ? most : std::min(most, asked);
}

// An error with the number of documents that were written before it.
Status AfterWrites(const Status& status, uint64_t written) {
  if (status.ok() || written == 0) return status;
  Status told(
      status.code(), status.id(),
      fmt::format("{} ({} changed before that and stay{} so)", status.message(),
                  written == 1 ? "one document was" : fmt::format("{} documents were", written),
                  written == 1 ? "s" : ""));
  for (const auto& [key, value] : status.fields()) told = told.With(key, value);
  return told.At(status.place());
}

class PlanRun final : public Run {
 public:
  PlanRun(QueryEngine& engine, std::shared_ptr<const StatementPlan> plan, RunRequest request,
          std::vector<Value> parameters, std::vector<RowChange>* changes = nullptr)
      : plan_(std::move(plan)),
        cancelled_(std::move(request.cancelled)),
        memory_(MemoryLimitOf(engine, request)),
        mutator_(engine.database(), request.transaction, changes, request.user),
        reader_(ReaderOf(engine, *plan_, request)),
        options_(OptionsOf(engine, request, std::move(parameters))),
        context_(*plan_->layout, *reader_, options_),
        root_(plan_->query.root->Start()) {
    for (const std::string& note : plan_->hint_notes) context_.Warn(QueryCode::kPlan, note);
  }

  bool Next() override {
    if (!std::exchange(opened_, true)) root_->Open(context_);
    if (context_.failed() || !root_->Next(context_)) return false;
    Value& row = context_.slot(plan_->query.result);
    if (row.is_missing()) row = nullptr;
    return true;
  }
  const Value& row() const override { return context_.slot(plan_->query.result); }
  Status status() const override {
    // Outside a transaction each document that was written stays so.
    return mutator_.in_transaction() ? context_.status()
                                     : AfterWrites(context_.status(), mutator_.mutations());
  }
  const std::vector<Status>& row_errors() const override { return mutator_.errors(); }
  const std::vector<Warning>& warnings() const override { return context_.warnings(); }
  uint64_t mutations() const override { return mutator_.mutations(); }
  uint64_t sorted() const override { return context_.sorted(); }
  Value profile() const override { return profile_ ? profile_->Show(*plan_->query.root) : Value(); }

 private:
  RunOptions OptionsOf(QueryEngine& engine, RunRequest& request, std::vector<Value> parameters) {
    const Clock& clock = engine.database().clock();
    const uint64_t now_ns = clock.WallNs();
    RunOptions options;
    options.clock = &clock;
    options.statement_time_us = static_cast<int64_t>(now_ns / 1000);
    if (plan_->uses_functions && engine.procedures() != nullptr) {
      RunRequest inner = request;
      inner.cancelled = cancelled_;
      const uint64_t deadline_ms = now_ns / 1'000'000 + request.timeout_ms;
      options.new_function_runner = [&engine, &clock, context = plan_->context, inner,
                                     deadline_ms] {
        RunRequest rest = inner;
        if (rest.timeout_ms > 0) {
          const uint64_t now_ms = clock.WallMs();
          rest.timeout_ms = deadline_ms > now_ms ? deadline_ms - now_ms : 1;
        }
        return engine.procedures()->NewFunctionRunner(context, std::move(rest));
      };
    }
    options.user = std::move(request.user);
    options.cancelled = cancelled_.get();
    options.turn = request.turn;
    options.memory = &memory_;
    options.parameters = std::move(parameters);
    options.system_rows = [&engine, more = std::move(request.system_rows)](
                              std::string_view name) -> Result<std::vector<Value>> {
      // The function that decides what the user may see gives all system rows.
      if (more != nullptr) return more(name);
      auto rows = SystemTableRows(*engine.database().catalog(), engine.procedures(), name);
      if (rows) return std::move(*rows);
      return QueryFail(QueryCode::kKeyspaceNotFound, "there is no system:{} here", name);
    };
    options.mutator = &mutator_;
    options.preserve_expiry = request.preserve_expiry;
    options.one_source = plan_->one_source;
    options.max_parallelism = engine.ParallelismOf(request);
    options.threads = &engine.threads();
    options.database = &engine.database();
    if (plan_->counted_operators > 0) {
      profile_.emplace(plan_->counted_operators);
      options.profile = &*profile_;
    }
    if (request.timeout_ms > 0) options.deadline_ms = now_ns / 1'000'000 + request.timeout_ms;
    return options;
  }

  const std::shared_ptr<const StatementPlan> plan_;
  const std::shared_ptr<std::atomic<bool>> cancelled_;
  MemoryBudget memory_;
  Mutator mutator_;
  const std::unique_ptr<db::Reader> reader_;
  std::optional<Profile> profile_;
  const RunOptions options_;
  Context context_;
  const std::unique_ptr<Operator> root_;
  bool opened_ = false;
};

class RowsRun final : public Run {
 public:
  RowsRun(std::vector<Value> rows, std::vector<Warning> warnings)
      : rows_(std::move(rows)), warnings_(std::move(warnings)) {}
  bool Next() override { return ++position_ <= rows_.size(); }
  const Value& row() const override { return rows_[position_ - 1]; }
  Status status() const override { return OkStatus(); }
  const std::vector<Status>& row_errors() const override { return errors_; }
  const std::vector<Warning>& warnings() const override { return warnings_; }
  uint64_t mutations() const override { return 0; }
  uint64_t sorted() const override { return 0; }
  Value profile() const override { return {}; }

 private:
  const std::vector<Value> rows_;
  const std::vector<Status> errors_;
  const std::vector<Warning> warnings_;
  size_t position_ = 0;
};

}  // namespace

std::unique_ptr<Run> MakeRowsRun(std::vector<Value> rows, std::vector<Warning> warnings) {
  return std::make_unique<RowsRun>(std::move(rows), std::move(warnings));
}

Result<std::vector<Value>> BindParameters(const ParameterList& parameters, RunRequest& request) {
  if (parameters.positional > request.positional.size()) {
    return QueryFail(QueryCode::kUnboundParameter,
                     "the statement has {} positional parameter{}, the request {} value{}",
                     parameters.positional, parameters.positional == 1 ? "" : "s",
                     request.positional.size(), request.positional.size() == 1 ? "" : "s");
  }
  std::vector<Value> values = std::move(request.positional);
  values.resize(parameters.positional);
  for (const std::string& name : parameters.named) {
    const auto found = request.named.find(name);
    if (found == request.named.end()) {
      return QueryFail(QueryCode::kUnboundParameter, "the parameter ${} has no value", name);
    }
    values.push_back(found->second);
  }
  return values;
}

namespace {

bool WritesReferences(QueryEngine& engine, const StatementPlan& plan) {
  const std::shared_ptr<const db::Catalog> catalog = engine.database().catalog();
  const auto table = catalog->Resolve(plan.writes[0]);
  return table && HasReferences(*catalog, **table);
}

}  // namespace

Result<std::unique_ptr<Run>> StartRun(QueryEngine& engine,
                                      std::shared_ptr<const StatementPlan> plan,
                                      RunRequest request) {
  if (plan->query.root == nullptr) {
    return RunStatement(engine, std::move(plan), std::move(request));
  }
  ASSIGN_OR_RETURN(std::vector<Value> parameters, BindParameters(plan->parameters, request));
  if (plan->atomic) {
    const AtomicRunOptions options{.transaction = request.transaction,
                                   .references = WritesReferences(engine, *plan)};
    return MakeAtomicRun(engine, options,
                         [&engine, plan, request, parameters](
                             db::Transaction& transaction,
                             std::vector<RowChange>* changes) -> Result<std::unique_ptr<Run>> {
                           RunRequest inner = request;
                           inner.transaction = &transaction;
                           return std::make_unique<PlanRun>(engine, plan, std::move(inner),
                                                            parameters, changes);
                         });
  }
  return std::make_unique<PlanRun>(engine, std::move(plan), std::move(request),
                                   std::move(parameters));
}

}  // namespace sluice::query
