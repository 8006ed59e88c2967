#include "function/manager.h"

#include <unistd.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/time_text.h"
#include "db/catalog_rows.h"
#include "function/managed_function.h"

namespace sluice::function {

std::string_view StateName(State state) {
  switch (state) {
    case State::kUndeployed:
      return "undeployed";
    case State::kDeployed:
      return "deployed";
    case State::kPaused:
      return "paused";
    case State::kDeploying:
      return "deploying";
    case State::kUndeploying:
      return "undeploying";
    case State::kPausing:
      return "pausing";
    case State::kResuming:
      return "resuming";
  }
  return "";
}

Status WrongState(std::string_view id, const std::string& name, State state,
                  std::string_view wanted) {
  // couchbase-cli looks for these words, and then knows that there is nothing to do.
  if (wanted == StateName(state) || (state == State::kDeployed && wanted == "resumed")) {
    return Error(Code::kConflict, id, "Invalid operation. Function: {} already in {} state.", name,
                 StateName(state));
  }
  return Error(Code::kConflict, id, "function '{}' is {}, which does not allow it to be {}", name,
               StateName(state), wanted);
}

State StateOf(const Settings& settings) {
  if (!settings.deployed) return State::kUndeployed;
  return settings.processing ? State::kDeployed : State::kPaused;
}

// The analysis does not see that the Change has the lock.
Manager::Change Manager::Function::AwaitChange() NO_THREAD_SAFETY_ANALYSIS {
  change.Lock();
  return Change(change);
}

Result<Manager::Change> Manager::Function::BeginChange() NO_THREAD_SAFETY_ANALYSIS {
  if (change.TryLock()) return Change(change);
  if (const std::optional<State> passing = live.Lock()->passing) {
    return Fail(Code::kConflict, "function.in_transition",
                "state transition not possible: function '{}' is in {} state. Try again later.",
                current()->name, StateName(*passing));
  }
  return AwaitChange();
}

Manager::Manager(const Services& services)
    : services_(services),
      timers_(services.database, services.clock),
      logs_(services.log_directory, services.clock, services.progress),
      commits_(services.database),
      config_watch_(services.database, std::string(kConfigRow),
                    [this](const auto&, const auto& row) { return RefreshConfig(row); }) {}
Manager::~Manager() { Stop(); }

Status Manager::Start() {
  refresher_ = std::make_unique<db::RowRefresher>(
      services_.database, std::string(kDefinitionRows), "functions",
      [this](const std::string& name) { OnRowChanged(name); });
  db::RowRange options;
  options.from = kDefinitionRows;
  options.to = PrefixEnd(kDefinitionRows);
  const auto iterator =
      services_.database.rows().NewIterator(db::RowFamily::kMeta, db::kDefinitionsShard, options);
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const json::Value value,
                     db::DecodeMetaJson(iterator->key(), iterator->value()));
    ASSIGN_OR_RETURN(Definition definition, ParseDefinition(value));
    const std::string location = definition.Location();
    const LogSettings log = definition.settings.log;
    auto function = std::make_shared<Function>(services_.database, logs_, std::move(definition));
    function->log->Configure(log);
    functions_.Lock()->emplace(location, std::move(function));
  }
  RETURN_IF_ERROR(iterator->status());
  RETURN_IF_ERROR(config_watch_.Load());
  services_.database.ownership().Add(&running_);  // no function runs yet
  RETURN_IF_ERROR(LoadFailures());
  DropForgottenLogs();
  // Only the owner of the definitions knows for sure which functions there are.
  if (running_.Owns(db::kDefinitionsShard)) {
    RETURN_IF_ERROR(DropForgottenTimers());
    RETURN_IF_ERROR(DropForgottenFailures());
    RETURN_IF_ERROR(HoldFunctions());
  }
  if (services_.hold) HoldAll();
  for (const auto& [name, function] : All()) {
    if (function->state() != State::kUndeployed) NoteDataFlow(*function->current());
    if (function->state() != State::kDeployed) continue;
    // The deployment has compiled it. Now its workers compile it when the first event comes.
    const Result<Prepared> prepared = Prepare(*function->current());
    const Status started = prepared ? Run(function, *prepared) : prepared.error();
    if (!started.ok()) OnNotStarted(function, started);
  }
  refresher_->Start();
  watch_ = std::make_unique<CatalogWatch>(services_.database, [this] { OnCatalogChanged(); });
  return OkStatus();
}

std::map<std::string, Manager::FunctionPtr> Manager::All() const { return functions_.Copy(); }

void Manager::RequestStop() {
  stopping_ = true;
  for (const auto& [name, function] : All()) {
    *function->deploying_stop() = true;
    if (const auto dispatcher = function->dispatcher()) dispatcher->RequestStop();
  }
}

void Manager::Stop() {
  RequestStop();
  refresher_.reset();
  watch_.reset();
  for (const auto& [name, function] : All()) StopDispatcher(*function);
  services_.database.ownership().Remove(&running_);
}

void Manager::StopDispatcher(Function& function) {
  if (const auto dispatcher = function.TakeDispatcher()) running_.Stop(dispatcher);
}

void Manager::OnNotStarted(const FunctionPtr& function, const Status& status) {
  log::Error("a function can't be started",
             {{"function", function->current()->name}, {"error", status.ToString()}});
  function->log->Add(LogLevel::kError, "the function has stopped: " + status.ToString());
  function->SetFailure(status.ToString());
  services_.Progressed();
}

// Runs on a thread of the function itself, so it can't wait for the function's end.
void Manager::OnFailed(const std::weak_ptr<Function>& weak, db::ShardId shard,
                       const Status& status) {
  const FunctionPtr function = weak.lock();
  if (function == nullptr) return;
  log::Error(
      "a function has stopped",
      {{"function", function->current()->name}, {"shard", shard}, {"error", status.ToString()}});
  function->log->Add(LogLevel::kError, "the function has stopped: " + status.ToString());
  services_.Progressed();
}

Result<Manager::FunctionPtr> Manager::Get(const std::string& name) const {
  {
    const auto functions = functions_.Lock();
    const auto found = functions->find(name);
    if (found != functions->end()) return found->second;
  }
  return Unexpected(NotFound(name));
}

Status Manager::NotFound(std::string_view name) {
  return Error(Code::kNotFound, "function.not_found", "there is no function '{}'", name);
}

Result<FunctionStatus> Manager::StatusOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  FunctionStatus status;
  std::shared_ptr<Dispatcher> dispatcher;
  {
    const auto live = function->live.Lock();
    status.definition = live->definition;
    status.state = live->passing.value_or(StateOf(live->definition->settings));
    status.failure = live->failure;
    dispatcher = live->dispatcher;
  }
  if (status.failure.empty() && dispatcher != nullptr) status.failure = dispatcher->failure();
  status.caught_up = dispatcher != nullptr && dispatcher->caught_up();
  return status;
}

std::vector<FunctionStatus> Manager::Statuses() const {
  std::vector<FunctionStatus> statuses;
  for (const Definition& definition : List()) {
    if (Result<FunctionStatus> status = StatusOf(definition.Location())) {
      statuses.push_back(std::move(*status));
    }
  }
  return statuses;
}

Result<std::vector<std::string>> Manager::Log(const std::string& name, size_t max_bytes) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  return function->log->Read(max_bytes);
}

void Manager::DropForgottenLogs() {
  std::vector<std::string> locations;
  for (const auto& [name, function] : All()) locations.push_back(name);
  logs_.KeepOnly(locations);
}

Result<json::Value> Manager::StatisticsOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  json::Value value = PrintStatistics(function->statistics);
  ASSIGN_OR_RETURN(json::Value failures, CountFailures(*function));
  for (const json::Field& field : value["failures"].fields()) {
    failures.Set(field.name(), field.value);
  }
  value.Set("failures", std::move(failures));
  value.Set("log",
            json::Value::Object(
                {{"lines_lost", static_cast<int64_t>(function->log->lines_lost())},
                 {"write_failures", static_cast<int64_t>(function->log->write_failures())}}));
  const std::shared_ptr<const Definition> definition = function->current();
  if (definition->settings.processing) {
    const Result<FunctionStatus> status = StatusOf(name);
    value.Set("lag", LagOf(services_.database, running_.owned(), *definition,
                           status && status->caught_up));
  }
  value.Set("function_name", definition->name);
  value.Set("function_scope", json::Value::Object({{"bucket", definition->scope_bucket},
                                                   {"scope", definition->scope_scope}}));
  // Workers are threads of this process, and the counts are of this moment.
  json::Value pids = json::Value::EmptyObject();
  json::Value taken = json::Value::EmptyObject();
  if (definition->settings.deployed && definition->settings.processing) {
    for (uint32_t i = 0; i < definition->settings.workers(); ++i) {
      pids.Set(fmt::format("worker_{}_{}", definition->name, i), static_cast<int64_t>(getpid()));
    }
    taken.Set(std::to_string(getpid()), UtcText(services_.database.clock().WallMs()));
  }
  for (const char* const group : {"execution_stats", "failure_stats"}) {
    json::Value counts = value[group];
    counts.Set("timestamp", taken);
    value.Set(group, std::move(counts));
  }
  value.Set("worker_pids", std::move(pids));
  value.Set("function_id", static_cast<int64_t>(definition->uuid));
  value.Set("dcp_feed_boundary",
            definition->settings.boundary == Boundary::kEverything ? "everything" : "from_now");
  return value;
}

void Manager::VisitStatistics(
    const std::function<void(const std::string&, const Statistics&)>& visit) const {
  for (const auto& [name, function] : All()) visit(name, function->statistics);
}

Status Manager::ResetStatistics(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  function->statistics.Reset();
  function->insight.Reset();
  return OkStatus();
}

}  // namespace sluice::function
