#include "procedure/manager.h"

#include <utility>

#include "procedure/run.h"
#include "procedure/session.h"

namespace sluice::procedure {

Manager::Manager(query::QueryEngine& engine, ManagerOptions options)
    : engine_(engine),
      options_(options),
      store_(engine.database()),
      running_(std::make_shared<std::atomic<size_t>>(0)) {}

Manager::~Manager() { engine_.SetProcedures(nullptr); }

Status Manager::Start() {
  RETURN_IF_ERROR(store_.Load());
  engine_.SetProcedures(this);
  return OkStatus();
}

Result<std::vector<Value>> Manager::Define(const query::ProcedureStatement& statement) {
  using Action = query::ProcedureStatement::Action;
  if (statement.action == Action::kCreate) {
    ASSIGN_OR_RETURN(const Value version,
                     store_.Create(statement.name, statement.version, statement.source));
    return std::vector<Value>{Value::Object({{"version", version}})};
  }
  RETURN_IF_ERROR(statement.action == Action::kDrop
                      ? store_.Drop(statement.name, statement.version)
                      : store_.PutDefault(statement.name, statement.version));
  return std::vector<Value>();
}

Result<std::unique_ptr<query::Run>> Manager::Start(const std::string& name,
                                                   std::vector<Value> arguments,
                                                   const query::QueryContext& context,
                                                   query::RunRequest request) {
  ASSIGN_OR_RETURN(auto program, store_.Find(name));
  if (CurrentNesting() >= kMaxNesting) {
    return Fail(Code::kTooLarge, "procedure.nesting", "procedures call each other {} levels deep",
                kMaxNesting);
  }
  if (++*running_ > options_.max_runs) {
    --*running_;
    return Fail(Code::kOverloaded, "procedure.too_many_runs",
                "{} procedures run, the most at the same time", options_.max_runs);
  }
  return std::make_unique<ProcedureRun>(engine_, store_,
                                        RunOptions{.name = name,
                                                   .program = std::move(program),
                                                   .arguments = std::move(arguments),
                                                   .context = context,
                                                   .request = std::move(request),
                                                   .limits = options_.limits,
                                                   .nesting = CurrentNesting()},
                                        running_);
}

}  // namespace sluice::procedure
