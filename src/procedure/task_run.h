// Runs a program as a function, for tasks of flows: main gets values and returns one. All writes of
// a run are one transaction, which is committed when main returns. If another commit has changed
// data that the run had read, the program runs again.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "db/transaction.h"
#include "lua/runtime.h"
#include "procedure/store.h"
#include "query/engine.h"
#include "script/stream_source.h"

namespace sluice::procedure {

// The values that main returns: `return body, status, headers`. Nothing is committed if the status
// is 400 or more.
struct TaskAnswer {
  Value body;
  int status = 200;
  Value headers = Value::EmptyObject();  // texts
};

struct TaskOptions {
  uint64_t timeout_ms = 30'000;
  // Ends the run when it becomes true; may be null.
  std::shared_ptr<std::atomic<bool>> cancelled = nullptr;
  // Commits the writes of the program, and waits. After Code::kConflict the program runs again. If
  // null, the database commits.
  std::function<Status(const TaskAnswer& answer, db::Commit commit)> commit = nullptr;
  // Called before each statement; an error refuses it. If null, all statements may run.
  std::function<Status(const query::StatementPlan& plan)> authorize = nullptr;
  // The streams that the program may read; may be null.
  const script::StreamSource* streams = nullptr;
};

class TaskRun {
 public:
  // The program must have a main.
  TaskRun(query::QueryEngine& engine, const Store& store, lua::Limits limits,
          std::shared_ptr<const lua::Program> program)
      : engine_(engine), store_(store), limits_(limits), program_(std::move(program)) {}

  // Waits until the commit is durable. Errors: procedure.failed, with the line; those of commits.
  Result<TaskAnswer> Run(const std::vector<Value>& arguments, const TaskOptions& options) const;

 private:
  Result<TaskAnswer> Attempt(const std::vector<Value>& arguments, const TaskOptions& options,
                             const lua::Limits& limits, db::Transaction& transaction) const;

  query::QueryEngine& engine_;
  const Store& store_;
  const lua::Limits limits_;
  const std::shared_ptr<const lua::Program> program_;
};

}  // namespace sluice::procedure
