#include "procedure/task_run.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "db/conflict_retry.h"
#include "json/print.h"
#include "procedure/db_object.h"
#include "procedure/session.h"

namespace sluice::procedure {
namespace {

constexpr int kFirstFailure = 400;
constexpr int64_t kLastStatus = 599;
constexpr uint64_t kNsPerMs = 1'000'000;

Status NoEmit(const Value&) {
  return Error(Code::kUnsupported, "procedure.unsupported",
               "a task returns its result: it emits no rows");
}

Status AddHeaders(const std::string& name, const lua::Returned& returned, Value* headers) {
  const Value* const table = std::get_if<Value>(&returned);
  if (table == nullptr || !table->is_object()) {
    return Error(Code::kInvalidArgument, "procedure.returned",
                 "task '{}': the third result of main must be a table of headers", name);
  }
  for (const json::Field& field : table->fields()) {
    headers->Set(field.name(),
                 field.value.is_string() ? field.value : Value(json::ToText(field.value)));
  }
  return OkStatus();
}

Result<TaskAnswer> AnswerOf(const std::string& name, const std::vector<lua::Returned>& values) {
  TaskAnswer answer;
  if (values.empty()) return answer;
  const Value* const body = std::get_if<Value>(&values[0]);
  if (body == nullptr) {
    return Fail(Code::kInvalidArgument, "procedure.returned",
                "task '{}' returned an object of the database, which is not a value", name);
  }
  answer.body = *body;
  if (values.size() == 1) return answer;
  const Value* const status = std::get_if<Value>(&values[1]);
  const double number = status != nullptr && status->is_number() ? status->ToDouble() : 0;
  if (number < 100 || number > kLastStatus) {
    return Fail(Code::kInvalidArgument, "procedure.returned",
                "task '{}': the second result of main must be a status from 100 to {}", name,
                kLastStatus);
  }
  answer.status = static_cast<int>(number);
  if (values.size() > 2) RETURN_IF_ERROR(AddHeaders(name, values[2], &answer.headers));
  return answer;
}

}  // namespace

Result<TaskAnswer> TaskRun::Run(const std::vector<Value>& arguments,
                                const TaskOptions& options) const {
  lua::Limits limits = limits_;
  limits.deadline_ns = limits.clock->MonotonicNs() + options.timeout_ms * kNsPerMs;
  for (db::ConflictRetry retry;;) {
    db::Transaction transaction(engine_.database());
    ASSIGN_OR_RETURN(TaskAnswer answer, Attempt(arguments, options, limits, transaction));
    if (answer.status >= kFirstFailure || transaction.writes() == 0) return answer;
    db::Commit commit = transaction.TakeCommit();
    commit.origin = "task:" + program_->name();
    const Status status = options.commit ? options.commit(answer, std::move(commit))
                                         : engine_.database().Apply(std::move(commit)).status;
    if (status.ok()) return answer;
    if (!retry.Again(status)) return Unexpected(status);
  }
}

Result<TaskAnswer> TaskRun::Attempt(const std::vector<Value>& arguments, const TaskOptions& task,
                                    const lua::Limits& limits, db::Transaction& transaction) const {
  const std::string& name = program_->name();
  Session session{.engine = engine_,
                  .store = store_,
                  .triggers = nullptr,
                  .name = name,
                  .context = {},
                  .request = {},
                  .cancelled = task.cancelled,
                  .emit = NoEmit,
                  .client = nullptr,
                  .nesting = CurrentNesting() + 1};
  session.request.transaction = &transaction;
  session.request.cancelled = task.cancelled;
  session.request.authorize = task.authorize;
  session.limits = limits;
  session.streams = task.streams;
  lua::RuntimeOptions options;
  options.program = program_;
  options.limits = limits;
  options.cancelled = task.cancelled.get();
  options.globals.emplace_back("db", std::make_shared<DbObject>(session));
  options.print = [&name](std::string_view line) {
    log::Info("a task logs", {{"route", name}, {"line", std::string(line)}});
  };
  script::Outcome failed;
  const auto runtime = lua::Runtime::Start(std::move(options), &failed);
  if (runtime == nullptr) return Unexpected(FailureOf("task", name, failed));
  session.runtime = runtime.get();
  const NestedRun nested;
  const lua::Finished finished = runtime->Call(arguments);
  if (!finished.ok()) return Unexpected(FailureOf("task", name, finished.outcome));
  return AnswerOf(name, finished.values);
}

}  // namespace sluice::procedure
