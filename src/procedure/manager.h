// Lua procedures, behind the interface that `query` declares.
//
// Concurrency: any thread. It must outlive the runs that it started. The engine uses it from Start
// until its destructor.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lua/runtime.h"
#include "procedure/function_store.h"
#include "procedure/store.h"
#include "procedure/task_run.h"
#include "procedure/trigger/triggers.h"
#include "query/engine.h"
#include "query/procedures.h"

namespace sluice::procedure {

struct ManagerOptions {
  lua::Limits limits;
  size_t max_runs = 1000;  // at the same time
};

class Manager final : public query::Procedures {
 public:
  Manager(query::QueryEngine& engine, ManagerOptions options);
  ~Manager() override;

  // Loads the stored definitions. The engine passes its statements here from then on.
  Status Start();

  Result<std::vector<Value>> Define(const query::ProcedureStatement& statement) override;
  Result<std::unique_ptr<query::Run>> Start(const std::string& name, std::vector<Value> arguments,
                                            const query::QueryContext& context,
                                            query::RunRequest request) override;
  Result<std::vector<Value>> Define(const query::TriggerStatement& statement,
                                    const query::QueryContext& context) override;
  Result<query::DefinitionState> Compare(const query::TriggerStatement& statement,
                                         const query::QueryContext& context) const override;
  std::vector<std::string> TriggersOn(db::KeyspaceId keyspace) const override {
    return triggers_.On(keyspace);
  }
  Status Forget(db::KeyspaceId keyspace) override { return triggers_.Forget(keyspace); }
  std::vector<Value> ListTriggers() const override { return triggers_.List(); }
  std::vector<Value> ListQueues() const override { return triggers_.ListQueues(); }
  std::shared_ptr<const query::UserFunctionTable> Functions() const override {
    return functions_.table();
  }
  std::unique_ptr<query::UserFunctionRunner> NewFunctionRunner(const query::QueryContext& context,
                                                               query::RunRequest request) override;
  std::vector<Value> List() const override { return store_.List(); }

  Triggers& triggers() { return triggers_; }
  // Runs a program that is not a procedure, with the limits of procedures.
  TaskRun NewTask(std::shared_ptr<const lua::Program> program) const {
    return {engine_, store_, options_.limits, std::move(program)};
  }

 private:
  void OnNewText(const std::string& procedure);
  Status MakeDefaultProcedure(const std::string& name) EXCLUDES(defining_);
  Result<std::vector<Value>> Create(const query::ProcedureStatement& statement) REQUIRES(defining_);
  Status Change(const query::ProcedureStatement& statement) REQUIRES(defining_);
  // Checks that a function of SQL with this name still works with the new text of its procedure.
  Status CheckStillFunction(const std::string& name, const lua::Program& program) const;
  Status CheckNoFunction(const std::string& name) const;

  query::QueryEngine& engine_;
  const ManagerOptions options_;
  Mutex defining_;  // one change of procedures and functions at a time; held across its commits
  Store store_;
  FunctionStore functions_;
  Triggers triggers_;
  std::shared_ptr<void> new_texts_;  // the watch of procedures for which triggers wait
  const std::shared_ptr<std::atomic<size_t>> running_;
};

}  // namespace sluice::procedure
