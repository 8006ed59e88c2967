#include "procedure/manager.h"

#include <utility>

#include "procedure/library.h"
#include "procedure/run.h"
#include "procedure/session.h"

namespace sluice::procedure {
namespace {

// As Comdb2 calls it.
constexpr std::string_view kDefaultConsumerVersion = "comdb2 default consumer 1.1";

}  // namespace

Manager::Manager(query::QueryEngine& engine, ManagerOptions options)
    : engine_(engine),
      options_(options),
      store_(engine.database()),
      triggers_(engine, store_, options.limits),
      running_(std::make_shared<std::atomic<size_t>>(0)) {}

Manager::~Manager() {
  triggers_.Stop();
  engine_.SetProcedures(nullptr);
}

Status Manager::Start() {
  RETURN_IF_ERROR(store_.Load());
  engine_.SetProcedures(this);
  return triggers_.Start();
}

Result<std::vector<Value>> Manager::Define(const query::ProcedureStatement& statement) {
  using Action = query::ProcedureStatement::Action;
  if (statement.action == Action::kCreate) {
    ASSIGN_OR_RETURN(const Value version,
                     store_.Create(statement.name, statement.version, statement.source));
    return std::vector<Value>{Value::Object({{"version", version}})};
  }
  if (statement.action == Action::kDrop && triggers_.Has(statement.name) &&
      store_.DropsAll(statement.name, statement.version)) {
    return Fail(Code::kConflict, "procedure.in_use",
                "procedure '{}' has a trigger or consumer: drop that first", statement.name);
  }
  RETURN_IF_ERROR(statement.action == Action::kDrop
                      ? store_.Drop(statement.name, statement.version)
                      : store_.PutDefault(statement.name, statement.version));
  return std::vector<Value>();
}

Status Manager::MakeDefaultProcedure(const std::string& name) {
  const Value version(kDefaultConsumerVersion);
  ASSIGN_OR_RETURN(const Value made, store_.Create(name, version, kDefaultConsumerLua));
  return store_.PutDefault(name, version);
}

Result<std::vector<Value>> Manager::Define(const query::TriggerStatement& statement,
                                           const query::QueryContext& context) {
  using Action = query::TriggerStatement::Action;
  Status status;
  if (statement.action == Action::kDrop) {
    status = triggers_.Drop(statement.name);
    if (statement.if_clause && status.id() == "trigger.not_found") status = OkStatus();
  } else {
    ASSIGN_OR_RETURN(TriggerDefinition definition,
                     DefinitionOf(statement, *engine_.database().catalog(), context));
    if (statement.is_default && !triggers_.Has(statement.name)) {
      RETURN_IF_ERROR(MakeDefaultProcedure(statement.name));
    }
    status = triggers_.Create(std::move(definition));
    if (statement.if_clause && status.id() == "trigger.exists") status = OkStatus();
  }
  if (!status.ok()) return Unexpected(query::AtPlace(status, statement.place));
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
  return std::make_unique<ProcedureRun>(engine_, store_, triggers_,
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
