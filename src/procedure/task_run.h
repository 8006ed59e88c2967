// A program that others run as a function: main gets values and returns one. All that a run writes
// is one transaction, committed when main returns, and run again when somebody else changed what it
// had read.
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

// What main returns: `return body, status, headers`. With a status of 400 and more nothing is
// committed.
struct TaskAnswer {
  Value body;
  int status = 200;
  Value headers = Value::EmptyObject();  // texts
};

struct TaskOptions {
  uint64_t timeout_ms = 30'000;
  // Ends the run when it becomes true; may be null.
  std::shared_ptr<std::atomic<bool>> cancelled = nullptr;
  // Commits what the program wrote, and waits; Code::kConflict lets it run again. None: the
  // database does.
  std::function<Status(const TaskAnswer& answer, db::Commit commit)> commit = nullptr;
  // Asked for each statement that is to run; none: it may run all.
  std::function<Status(const query::StatementPlan& plan)> authorize = nullptr;
  // That it may read; null: there are none.
  const script::StreamSource* streams = nullptr;
};

class TaskRun {
 public:
  // The program has a main.
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
