#include "query/run.h"

#include <utility>

#include "db/reader.h"
#include "query/exec/context.h"
#include "query/exec/mutator.h"
#include "query/exec/profile.h"

namespace sluice::query {
namespace {

class PlanRun final : public Run {
 public:
  PlanRun(QueryEngine& engine, std::shared_ptr<const StatementPlan> plan, RunRequest request,
          std::vector<Value> parameters)
      : plan_(std::move(plan)),
        request_(std::move(request)),
        memory_(engine.options().memory_limit_bytes),
        mutator_(engine.database(), request_.transaction),
        reader_(request_.transaction != nullptr ? db::NewTransactionReader(*request_.transaction)
                                                : db::NewSnapshotReader(engine.database())) {
    const Clock& clock = engine.database().clock();
    options_.clock = &clock;
    options_.statement_time_us = static_cast<int64_t>(clock.WallNs() / 1000);
    options_.user = request_.user;
    options_.cancelled = request_.cancelled.get();
    options_.memory = &memory_;
    options_.parameters = std::move(parameters);
    options_.system_rows = request_.system_rows;
    options_.mutator = &mutator_;
    options_.preserve_expiry = request_.preserve_expiry;
    options_.max_parallelism = engine.ParallelismOf(request_);
    options_.threads = &engine.threads();
    options_.database = &engine.database();
    if (request_.timeout_ms > 0) options_.deadline_ms = clock.WallMs() + request_.timeout_ms;
    if (plan_->counted_operators > 0) {
      profile_.emplace(plan_->counted_operators);
      options_.profile = &*profile_;
    }
    context_ = std::make_unique<Context>(*plan_->layout, *reader_, options_);
    for (const std::string& note : plan_->hint_notes) context_->Warn(QueryCode::kPlan, note);
    root_ = plan_->query.root->Start();
  }

  bool Next() override {
    if (!std::exchange(opened_, true)) root_->Open(*context_);
    if (context_->failed() || !root_->Next(*context_)) return false;
    row_ = context_->slot(plan_->query.result);
    if (row_.is_missing()) row_ = nullptr;
    return true;
  }
  const Value& row() const override { return row_; }
  Status status() const override { return context_->status(); }
  const std::vector<Status>& row_errors() const override { return mutator_.errors(); }
  const std::vector<Warning>& warnings() const override { return context_->warnings(); }
  uint64_t mutations() const override { return mutator_.mutations(); }
  uint64_t sorted() const override { return context_->sorted(); }
  Value profile() const override { return profile_ ? profile_->Show(*plan_->query.root) : Value(); }

 private:
  const std::shared_ptr<const StatementPlan> plan_;
  const RunRequest request_;
  MemoryBudget memory_;
  Mutator mutator_;
  const std::unique_ptr<db::Reader> reader_;
  std::optional<Profile> profile_;
  RunOptions options_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Operator> root_;
  bool opened_ = false;
  Value row_;
};

class RowsRun final : public Run {
 public:
  explicit RowsRun(std::vector<Value> rows) : rows_(std::move(rows)) {}
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

std::unique_ptr<Run> MakeRowsRun(std::vector<Value> rows) {
  return std::make_unique<RowsRun>(std::move(rows));
}

Result<std::vector<Value>> BindParameters(const ParameterList& parameters,
                                          const RunRequest& request) {
  std::vector<Value> values;
  if (parameters.positional > request.positional.size()) {
    return QueryFail(QueryCode::kUnboundParameter,
                     "the statement has {} positional parameter{}, the request {} value{}",
                     parameters.positional, parameters.positional == 1 ? "" : "s",
                     request.positional.size(), request.positional.size() == 1 ? "" : "s");
  }
  values.assign(request.positional.begin(), request.positional.begin() + parameters.positional);
  for (const std::string& name : parameters.named) {
    const auto found = request.named.find(name);
    if (found == request.named.end()) {
      return QueryFail(QueryCode::kUnboundParameter, "the parameter ${} has no value", name);
    }
    values.push_back(found->second);
  }
  return values;
}

Result<std::unique_ptr<Run>> StartRun(QueryEngine& engine,
                                      std::shared_ptr<const StatementPlan> plan,
                                      RunRequest request) {
  if (plan->query.root == nullptr) {
    return RunStatement(engine, std::move(plan), std::move(request));
  }
  ASSIGN_OR_RETURN(std::vector<Value> parameters, BindParameters(plan->parameters, request));
  return std::make_unique<PlanRun>(engine, std::move(plan), std::move(request),
                                   std::move(parameters));
}

}  // namespace sluice::query
