#include "route/sql_task.h"

namespace sluice::route {
namespace {

constexpr size_t kMaxRows = 100'000;

class SqlTask final : public TaskInstance {
 public:
  SqlTask(query::QueryEngine& engine, std::string text) : engine_(engine), text_(std::move(text)) {}
  TaskOutput Run(const TaskInput& input) override {
    return RunStatement(engine_, text_, input.body, input.timeout_ms);
  }

 private:
  query::QueryEngine& engine_;
  const std::string text_;
};

}  // namespace

TaskOutput RunStatement(query::QueryEngine& engine, const std::string& text,
                        const json::Value& arguments, uint64_t timeout_ms) {
  query::RunRequest request;
  request.timeout_ms = timeout_ms;
  for (const json::Field& field : arguments.fields()) {
    request.named[std::string(field.name())] = field.value;
  }
  for (const json::Value& item : arguments.items()) request.positional.push_back(item);
  auto run = engine.Query(text, {}, std::move(request));
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

Result<TaskMaker> MakeSqlTask(query::QueryEngine& engine, std::string text) {
  ASSIGN_OR_RETURN(const auto checked, engine.Prepare(text, {}));
  return [&engine, text = std::move(text)]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<SqlTask>(engine, text);
  };
}

}  // namespace sluice::route
