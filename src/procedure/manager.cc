#include "procedure/manager.h"

#include <utility>

#include "procedure/function_runner.h"
#include "procedure/library.h"
#include "procedure/run.h"
#include "procedure/session.h"
#include "procedure/trigger/compare.h"

namespace sluice::procedure {
namespace {

// The name that Comdb2 gives it.
constexpr std::string_view kDefaultConsumerVersion = "comdb2 default consumer 1.1";

}  // namespace

Manager::Manager(query::QueryEngine& engine, ManagerOptions options)
    : engine_(engine),
      options_(options),
      store_(engine.database()),
      functions_(engine.database()),
      triggers_(engine, store_, options.limits),
      running_(std::make_shared<std::atomic<size_t>>(0)) {}

Manager::~Manager() {
  new_texts_.reset();
  triggers_.Stop();
  engine_.SetProcedures(nullptr);
}

Status Manager::Start() {
  RETURN_IF_ERROR(store_.Load());
  RETURN_IF_ERROR(functions_.Load());
  // The store's own watch comes before this one.
  new_texts_ = db::WatchMetaKeys(engine_.database(), std::string(kProcedureRows),
                                 [this](std::span<const std::string> keys) {
                                   for (const std::string& key : keys)
                                     OnNewText(key.substr(kProcedureRows.size()));
                                 });
  engine_.SetProcedures(this);
  return triggers_.Start();
}

// The new text may let a failing trigger succeed, so it tries again at once.
void Manager::OnNewText(const std::string& procedure) {
  if (const auto live = triggers_.Find(procedure)) (*live)->signal().Wake();
}

Status Manager::CheckStillFunction(const std::string& name, const lua::Program& program) const {
  const auto function = functions_.Of(name);
  return function == nullptr ? OkStatus() : CheckFunction(*function, program);
}

Status Manager::CheckNoFunction(const std::string& name) const {
  const auto function = functions_.Of(name);
  if (function == nullptr) return OkStatus();
  return Error(Code::kConflict, "procedure.in_use",
               "procedure '{}' is a function of SQL: DROP LUA {} FUNCTION first", name,
               function->aggregate ? "AGGREGATE" : "SCALAR");
}

Result<std::vector<Value>> Manager::Create(const query::ProcedureStatement& statement) {
  if (const auto known = store_.DefaultVersion(statement.name);
      known && *known == statement.version) {
    ASSIGN_OR_RETURN(const auto program, lua::Program::Compile(statement.name, statement.source));
    RETURN_IF_ERROR(CheckStillFunction(statement.name, *program));
  }
  ASSIGN_OR_RETURN(const Value version,
                   store_.Create(statement.name, statement.version, statement.source));
  return std::vector<Value>{Value::Object(
      {{"version", version.is_int() ? Value(std::to_string(version.AsInt())) : version}})};
}

Status Manager::Change(const query::ProcedureStatement& statement) {
  using Action = query::ProcedureStatement::Action;
  const std::string& name = statement.name;
  if (statement.action == Action::kCreateFunction) {
    ASSIGN_OR_RETURN(const auto program, store_.Find(name));
    query::UserFunction function{
        .name = name, .aggregate = statement.aggregate, .deterministic = statement.deterministic};
    RETURN_IF_ERROR(CheckFunction(function, *program));
    return functions_.Create(std::move(function));
  }
  if (statement.action == Action::kDropFunction) {
    return functions_.Drop(name, statement.aggregate);
  }
  if (statement.action == Action::kPutDefault) {
    const auto program = store_.Find(name, statement.version);
    // The number by which Comdb2's clients know that the statement does not fit the schema.
    if (!program) return program.error().With("returned", "240");
    RETURN_IF_ERROR(CheckStillFunction(name, **program));
    return store_.PutDefault(name, statement.version);
  }
  const auto known = store_.DefaultVersion(name);
  if (known && (statement.version.is_missing() || *known == statement.version)) {
    RETURN_IF_ERROR(CheckNoFunction(name));
  }
  if (triggers_.Has(name) && store_.DropsAll(name, statement.version)) {
    return Error(Code::kConflict, "procedure.in_use",
                 "procedure '{}' has a trigger or consumer: drop that first", name);
  }
  return store_.Drop(name, statement.version);
}

Result<std::vector<Value>> Manager::Define(const query::ProcedureStatement& statement) {
  const MutexLock lock(defining_);
  if (statement.action == query::ProcedureStatement::Action::kCreate) return Create(statement);
  RETURN_IF_ERROR(Change(statement));
  return std::vector<Value>();
}

Status Manager::MakeDefaultProcedure(const std::string& name) {
  const MutexLock lock(defining_);
  const Value version(kDefaultConsumerVersion);
  ASSIGN_OR_RETURN(const Value made, store_.Create(name, version, kDefaultConsumerLua));
  return store_.PutDefault(name, version);
}

std::unique_ptr<query::UserFunctionRunner> Manager::NewFunctionRunner(
    const query::QueryContext& context, query::RunRequest request) {
  return std::make_unique<FunctionRunner>(engine_, store_, context, std::move(request),
                                          options_.limits);
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
    status = statement.or_replace ? triggers_.Replace(std::move(definition))
                                  : triggers_.Create(std::move(definition));
    if (statement.if_clause && status.id() == "trigger.exists") status = OkStatus();
  }
  if (!status.ok()) return Unexpected(query::AtPlace(status, statement.place));
  return std::vector<Value>();
}

Result<query::DefinitionState> Manager::Compare(const query::TriggerStatement& statement,
                                                const query::QueryContext& context) const {
  ASSIGN_OR_RETURN(const TriggerDefinition wanted,
                   DefinitionOf(statement, *engine_.database().catalog(), context));
  const auto live = triggers_.Find(statement.name);
  if (!live) return query::DefinitionState();
  return CompareTrigger(*(*live)->definition(), wanted, statement);
}

Result<std::unique_ptr<query::Run>> Manager::Start(const std::string& name,
                                                   std::vector<Value> arguments,
                                                   const query::QueryContext& context,
                                                   query::RunRequest request) {
  ASSIGN_OR_RETURN(auto program, store_.Find(name, ChosenVersion(request, name)));
  if (!program->Has("main")) {
    return Fail(Code::kInvalidArgument, "lua.no_entry",
                "procedure '{}' has no 'local function main'", name);
  }
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
