#include "flow_engine/sql_task.h"

#include <algorithm>

#include "db/conflict_retry.h"
#include "db/transaction.h"

namespace sluice::flow_engine {
namespace {

constexpr size_t kMaxRows = 100'000;

class SqlTask final : public TaskInstance {
 public:
  SqlTask(query::QueryEngine& engine, std::string text, TaskStatement statement)
      : engine_(engine), text_(std::move(text)), statement_(std::move(statement)) {}

  TaskOutput Run(const TaskInput& input) override {
    if (statement_.plan == nullptr) {
      auto plan = engine_.Prepare(text_, {});
      if (!plan) return TaskOutput::Failure(plan.error());
      statement_.plan = std::move(*plan);
    }
    return RunStatement(engine_, statement_, input.body, input);
  }

 private:
  query::QueryEngine& engine_;
  const std::string text_;
  TaskStatement statement_;  // without a plan until there is one
};

TaskMaker MakerOf(query::QueryEngine& engine, std::string text, TaskStatement statement) {
  return [&engine, text = std::move(text),
          statement = std::move(statement)]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<SqlTask>(engine, text, statement);
  };
}

TaskOutput RunOnce(query::QueryEngine& engine, const TaskStatement& statement,
                   const json::Value& arguments, const TaskInput& input,
                   db::Transaction* transaction) {
  query::RunRequest request;
  request.timeout_ms = input.timeout_ms;
  request.cancelled = input.cancelled;
  request.transaction = transaction;
  request.authorize = statement.authorize;
  for (const json::Field& field : arguments.fields()) {
    request.named[std::string(field.name())] = field.value;
  }
  for (const json::Value& item : arguments.items()) request.positional.push_back(item);
  auto run = engine.Execute(statement.plan, std::move(request));
  if (!run) return TaskOutput::Failure(run.error());
  TaskOutput output;
  output.body = json::Value::EmptyArray();
  while ((*run)->Next()) {
    if (output.body.size() >= kMaxRows) {
      return TaskOutput::Failure(413, fmt::format("the statement has more than {} rows", kMaxRows));
    }
    output.body.Append((*run)->row());
  }
  if (!(*run)->status().ok()) return TaskOutput::Failure((*run)->status());
  if (!(*run)->row_errors().empty()) return TaskOutput::Failure((*run)->row_errors().front());
  return output;
}

// Changes of the catalog are commits of their own.
bool FitsTransaction(query::StatementKind kind) {
  return kind != query::StatementKind::kDefinition && kind != query::StatementKind::kPrepare &&
         kind != query::StatementKind::kTransaction;
}

}  // namespace

TaskOutput RunStatement(query::QueryEngine& engine, const TaskStatement& statement,
                        const json::Value& arguments, const TaskInput& input) {
  const query::StatementPlan& plan = *statement.plan;
  const bool reads_only = plan.IsReadOnly() && plan.kind != query::StatementKind::kExecute;
  if (input.sink == nullptr || reads_only || !FitsTransaction(plan.kind)) {
    return RunOnce(engine, statement, arguments, input, nullptr);
  }
  for (db::ConflictRetry retry;;) {
    db::Transaction transaction(engine.database());
    TaskOutput output = RunOnce(engine, statement, arguments, input, &transaction);
    if (output.status >= 400 || transaction.writes() == 0) return output;
    const Status status = input.sink->Commit(output, transaction.TakeCommit());
    if (status.ok()) return output;
    if (!retry.Again(status)) return TaskOutput::Failure(status);
  }
}

Result<TaskMaker> MakeSqlTask(query::QueryEngine& engine, std::string text,
                              StatementCheck authorize) {
  ASSIGN_OR_RETURN(auto plan, engine.Prepare(text, {}));
  if (authorize) RETURN_IF_ERROR(authorize(*plan));
  return MakerOf(engine, std::move(text), {std::move(plan), std::move(authorize)});
}

TaskMaker MakeLateSqlTask(query::QueryEngine& engine, std::string text, StatementCheck authorize) {
  return MakerOf(engine, std::move(text), {nullptr, std::move(authorize)});
}

}  // namespace sluice::flow_engine
