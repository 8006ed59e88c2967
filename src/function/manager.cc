#include "function/manager.h"

#include <algorithm>
#include <deque>

#include "base/bytes.h"
#include "base/log.h"
#include "base/random.h"
#include "db/catalog_rows.h"
#include "function/keyspaces_check.h"
#include "timer/owned.h"

namespace sluice::function {
namespace {

constexpr std::string_view kRowPrefix = "function/";
constexpr std::string_view kConfigRow = "functions/config";
constexpr size_t kKeptLogLines = 1000;

std::string RowKey(const std::string& name) { return std::string(kRowPrefix) + name; }

// `id` says which rule it is; the message is the same for all.
Status WrongState(std::string_view id, const std::string& name, State state,
                  std::string_view wanted) {
  return Error(Code::kConflict, id, "function '{}' is {}, which does not allow it to be {}", name,
               StateName(state), wanted);
}

State StateOf(const Settings& settings) {
  if (!settings.deployed) return State::kUndeployed;
  return settings.processing ? State::kDeployed : State::kPaused;
}

// A number as handleruuid is, and the instance's name made from it.
std::string NewInstanceId(uint64_t* uuid) {
  const std::string bytes = SecureRandomBytes(4);
  *uuid = ByteReader(bytes).U32();
  return fmt::format("{}-{}", *uuid, NewUuid().substr(0, 8));
}

bool SameButDynamic(const Definition& old, const Definition& next) {
  json::Value a = PrintDefinition(old, Secrets::kShown);
  json::Value b = PrintDefinition(next, Secrets::kShown);
  a.Remove("settings");
  b.Remove("settings");
  return a == b && OnlyDynamicChanges(old.settings, next.settings);
}

Status CompileError(const Definition& definition, const PreparedSource& source,
                    const script::Outcome& failed) {
  const SourcePlace place =
      source.columns.ToUser({.line = static_cast<uint32_t>(failed.place.line),
                             .column = static_cast<uint32_t>(failed.place.column)});
  return Error(Code::kInvalidArgument, "function.compile", "{}.js:{}:{}: {}", definition.name,
               place.line, place.column, failed.message)
      .With("line", std::to_string(place.line))
      .With("column", std::to_string(place.column));
}

}  // namespace

std::string_view StateName(State state) {
  switch (state) {
    case State::kUndeployed:
      return "undeployed";
    case State::kDeployed:
      return "deployed";
    case State::kPaused:
      return "paused";
  }
  return "";
}

struct Manager::Function {
  std::mutex change;     // held while its state is changed
  bool removed = false;  // guarded by change: no longer in the list

  mutable std::mutex mutex;
  std::shared_ptr<const Definition> definition;  // guarded by mutex
  std::shared_ptr<Dispatcher> dispatcher;        // guarded by mutex; null unless it runs
  std::string failure;                           // guarded by mutex
  std::deque<std::string> log;                   // guarded by mutex
  Statistics statistics;

  std::shared_ptr<const Definition> current() const {
    const std::lock_guard lock(mutex);
    return definition;
  }
  State state() const { return StateOf(current()->settings); }
  void AddLog(std::string_view line) {
    const std::lock_guard lock(mutex);
    log.emplace_back(line);
    if (log.size() > kKeptLogLines) log.pop_front();
  }
};

Manager::Manager(const Services& services)
    : services_(services), timers_(services.database, services.clock) {}
Manager::~Manager() { Stop(); }

Status Manager::Start() {
  storage::IterateOptions options;
  options.lower = kRowPrefix;
  options.upper = PrefixEnd(kRowPrefix);
  const auto iterator =
      services_.database.store().NewIterator(storage::Family::kMeta, std::move(options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const json::Value value,
                     db::DecodeMetaJson(iterator->key(), iterator->value()));
    ASSIGN_OR_RETURN(Definition definition, ParseDefinition(value));
    auto function = std::make_shared<Function>();
    function->definition = std::make_shared<const Definition>(std::move(definition));
    functions_.emplace(function->definition->Location(), std::move(function));
  }
  RETURN_IF_ERROR(iterator->status());
  RETURN_IF_ERROR(LoadConfig());
  RETURN_IF_ERROR(DropForgottenTimers());
  for (uint16_t shard = 0; shard < services_.database.shard_count(); ++shard) {
    listeners_.push_back(services_.database.OnCommitted(
        shard, [this](const db::Committed& committed) { OnCommitted(committed); }));
  }
  for (const auto& [name, function] : functions_) {
    if (function->state() != State::kUndeployed) AddFlow(*function->current());
    if (function->state() != State::kDeployed) continue;
    // It was compiled when it was deployed; now its workers do that when the first event comes.
    const Result<Prepared> prepared = Prepare(*function->current());
    const Status started = prepared ? Run(function, *prepared) : prepared.error();
    if (!started.ok()) OnFailed(function, started);
  }
  watch_ = std::make_unique<CatalogWatch>(services_.database, [this] { OnCatalogChanged(); });
  return OkStatus();
}

void Manager::Stop() {
  watch_.reset();
  listeners_.clear();
  std::map<std::string, FunctionPtr> functions;
  {
    const std::lock_guard lock(mutex_);
    functions = functions_;
  }
  for (const auto& [name, function] : functions) {
    std::shared_ptr<Dispatcher> dispatcher;
    {
      const std::lock_guard lock(function->mutex);
      dispatcher.swap(function->dispatcher);
    }
    if (dispatcher != nullptr) dispatcher->Stop();
  }
}

void Manager::OnCommitted(const db::Committed& committed) {
  if (committed.keyspaces.empty()) return;
  const std::lock_guard lock(routes_mutex_);
  for (const db::KeyspaceId keyspace : committed.keyspaces) {
    const auto [from, to] = routes_.equal_range(keyspace);
    for (auto route = from; route != to;) {
      if (const auto dispatcher = route->second.lock()) {
        dispatcher->Wake();
        ++route;
      } else {
        route = routes_.erase(route);
      }
    }
  }
}

// On a thread of the function itself, which can't be waited for here.
void Manager::OnFailed(const std::weak_ptr<Function>& weak, const Status& status) {
  const FunctionPtr function = weak.lock();
  if (function == nullptr) return;
  log::Error("a function has stopped",
             {{"function", function->current()->name}, {"error", status.ToString()}});
  function->AddLog("the function has stopped: " + status.ToString());
  const std::lock_guard lock(function->mutex);
  function->failure = status.ToString();
}

// --- definitions --------------------------------------------------------------------------------

Result<Manager::FunctionPtr> Manager::Get(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(name);
  if (found != functions_.end()) return found->second;
  return Fail(Code::kNotFound, "function.not_found", "there is no function '{}'", name);
}

Status Manager::Save(const Definition& definition) {
  db::Commit commit;
  commit.rows.push_back({storage::Family::kMeta, RowKey(definition.Location()),
                         db::EncodeMetaJson(PrintDefinition(definition, Secrets::kShown)),
                         std::nullopt});
  return services_.database.Apply(std::move(commit)).status;
}

Status Manager::Store(Definition definition) {
  if (const uint32_t most = config().function_bytes; definition.code.size() > most) {
    return Error(Code::kTooLarge, "function.too_large",
                 "the code of a function has at most {} bytes (function_size), got {}", most,
                 definition.code.size());
  }
  definition.settings.deployed = false;
  definition.settings.processing = false;
  const std::string location = definition.Location();
  while (true) {
    FunctionPtr function;
    bool made = false;
    {
      const std::lock_guard lock(mutex_);
      FunctionPtr& slot = functions_[location];
      if (slot == nullptr) {
        made = true;
        slot = std::make_shared<Function>();
        slot->definition = std::make_shared<const Definition>(definition);
      }
      function = slot;
    }
    const std::lock_guard change(function->change);
    if (function->removed) continue;  // meanwhile: it is made anew
    const Status stored = Replace(function, std::move(definition));
    if (!stored.ok() && made) {
      const std::lock_guard lock(mutex_);
      function->removed = true;
      functions_.erase(location);
    }
    return stored;
  }
}

// Under the function's change lock.
Status Manager::Replace(const FunctionPtr& function, Definition definition) {
  const std::string location = definition.Location();
  const std::shared_ptr<const Definition> old = function->current();
  const State state = function->state();
  KeepSecrets(*old, &definition);
  if (state != State::kUndeployed) {
    definition.settings.deployed = true;
    definition.settings.processing = state == State::kDeployed;
    definition.instance_id = old->instance_id;
    definition.uuid = old->uuid;
  }
  if (state == State::kPaused &&
      (old->source != definition.source || old->metadata != definition.metadata ||
       old->settings.boundary != definition.settings.boundary)) {
    return WrongState("function.not_undeployed", location, state, "moved");
  }
  if (state == State::kDeployed && !SameButDynamic(*old, definition)) {
    return WrongState("function.not_undeployed", location, state, "changed");
  }
  RETURN_IF_ERROR(Save(definition));
  std::shared_ptr<Dispatcher> running;
  {
    const std::lock_guard lock(function->mutex);
    function->definition = std::make_shared<const Definition>(std::move(definition));
    running.swap(function->dispatcher);
  }
  if (running == nullptr) return OkStatus();
  running->Stop();  // it goes on at its cursors, with the new settings
  ASSIGN_OR_RETURN(const Prepared prepared, CheckCode(function));
  return Run(function, prepared);
}

Result<Definition> Manager::Find(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  return *function->current();
}

std::vector<Definition> Manager::List() const {
  std::vector<Definition> list;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, function] : functions_) list.push_back(*function->current());
  return list;
}

Status Manager::Remove(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::lock_guard change(function->change);
  if (function->state() != State::kUndeployed) {
    return WrongState("function.not_undeployed", name, function->state(), "deleted");
  }
  db::Commit commit;
  commit.rows.push_back({storage::Family::kMeta, RowKey(name), std::nullopt, std::nullopt});
  RETURN_IF_ERROR(services_.database.Apply(std::move(commit)).status);
  function->removed = true;
  const std::lock_guard lock(mutex_);
  functions_.erase(name);
  return OkStatus();
}

// --- what holds for all functions ---------------------------------------------------------------

GlobalConfig Manager::config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

Status Manager::SetConfig(const json::Value& changes) {
  ASSIGN_OR_RETURN(GlobalConfig next, MergeConfig(config(), changes));
  db::Commit commit;
  commit.rows.push_back({storage::Family::kMeta, std::string(kConfigRow),
                         db::EncodeMetaJson(next.given), std::nullopt});
  RETURN_IF_ERROR(services_.database.Apply(std::move(commit)).status);
  const std::lock_guard lock(mutex_);
  config_ = std::move(next);
  return OkStatus();
}

Status Manager::LoadConfig() {
  std::string row;
  ASSIGN_OR_RETURN(const bool found,
                   services_.database.store().Get(storage::Family::kMeta, kConfigRow, &row));
  if (!found) return OkStatus();
  ASSIGN_OR_RETURN(const json::Value given, db::DecodeMetaJson(kConfigRow, row));
  ASSIGN_OR_RETURN(config_, MergeConfig({}, given));
  return OkStatus();
}

// --- life cycle ---------------------------------------------------------------------------------

Result<Prepared> Manager::CheckCode(const FunctionPtr& function) {
  const std::shared_ptr<const Definition> definition = function->current();
  ASSIGN_OR_RETURN(Prepared prepared, Prepare(*definition));
  script::Outcome failed;
  const auto handler = Handler::Make(
      services_, definition, prepared.program, [](std::string_view) {}, &failed);
  if (handler == nullptr) return Unexpected(CompileError(*definition, *prepared.source, failed));
  return prepared;
}

Result<Prepared> Manager::CheckDeployment(const FunctionPtr& function) {
  const std::shared_ptr<const Definition> definition = function->current();
  RETURN_IF_ERROR(CheckSecrets(*definition));
  const GlobalConfig config = this->config();
  if (!config.curl && !definition->urls.empty()) {
    return Fail(Code::kForbidden, "function.curl_disabled",
                "function '{}' has URL bindings, which enable_curl or disable_curl_binding forbids",
                definition->name);
  }
  RETURN_IF_ERROR(CheckKeyspaces(*definition, *services_.database.catalog()));
  ASSIGN_OR_RETURN(Prepared prepared, CheckCode(function));
  DataFlow flow = FlowOf(*definition, *prepared.source);
  RETURN_IF_ERROR(CheckStatements(flow));
  const std::lock_guard lock(flows_mutex_);
  if (!config.allow_recursion) {
    std::vector<DataFlow> others;
    for (const auto& [name, other] : flows_) others.push_back(other);
    RETURN_IF_ERROR(CheckRecursion(flow, others));
  }
  flows_[definition->Location()] = std::move(flow);
  return prepared;
}

void Manager::AddFlow(const Definition& definition) {
  const auto prepared = Prepare(definition);
  if (!prepared) return;  // it can't run, so that it writes nowhere
  const std::lock_guard lock(flows_mutex_);
  flows_[definition.Location()] = FlowOf(definition, *prepared->source);
}

void Manager::RemoveFlow(const std::string& name) {
  const std::lock_guard lock(flows_mutex_);
  flows_.erase(name);
}

Status Manager::EnsureFollower(const Definition& definition, db::KeyspaceId source) {
  const std::string follower = FollowerOf(definition);
  if (services_.database.catalog()->FindFollower(follower) != nullptr) return OkStatus();
  db::FollowerOptions options;
  options.name = follower;
  options.keyspaces = {source};
  options.needs_before = definition.settings.previous;
  options.lanes = kLanes;
  options.start = definition.settings.boundary == Boundary::kEverything
                      ? db::FollowerOptions::Start::kEverything
                      : db::FollowerOptions::Start::kNow;
  return services_.database.CreateFollower(options);
}

Status Manager::RunOnDeploy(const FunctionPtr& function, const Prepared& prepared,
                            std::string_view reason) {
  const std::shared_ptr<const Definition> definition = function->current();
  script::Outcome outcome;
  const auto handler = Handler::Make(
      services_, definition, prepared.program,
      [&](std::string_view line) { function->AddLog(line); }, &outcome);
  if (handler == nullptr) return CompileError(*definition, *prepared.source, outcome);
  if (!handler->HasOnDeploy()) return OkStatus();
  const std::atomic<bool> never{false};
  handler->Attach(function->statistics, never);
  Effects effects(services_.database, FollowerOf(*definition));
  {
    Handler::Turn turn(*handler);
    outcome = handler->RunOnDeploy(turn, effects, reason, 0);
  }
  if (!outcome.ok()) {
    return Error(Code::kInvalidArgument, "function.on_deploy_failed", "OnDeploy of '{}' failed: {}",
                 definition->name, outcome.message);
  }
  db::Commit commit = effects.TakeCommit();
  commit.origin = FollowerOf(*definition);
  RETURN_IF_ERROR(services_.database.Apply(std::move(commit)).status);
  function->statistics.timers_created += effects.counts().timers_created;
  function->statistics.timers_cancelled += effects.counts().timers_cancelled;
  return OkStatus();
}

Status Manager::Run(const FunctionPtr& function, const Prepared& prepared) {
  const std::shared_ptr<const Definition> definition = function->current();
  ASSIGN_OR_RETURN(const db::KeyspaceId source, services_.database.Resolve(definition->source));
  RETURN_IF_ERROR(EnsureFollower(*definition, source));
  std::weak_ptr<Function> weak = function;
  Dispatcher::Options options{services_,
                              timers_,
                              definition,
                              prepared.program,
                              FollowerOf(*definition),
                              {source},
                              function->statistics,
                              [raw = function.get()](std::string_view line) { raw->AddLog(line); },
                              [this, weak](const Status& status) { OnFailed(weak, status); }};
  ASSIGN_OR_RETURN(std::shared_ptr<Dispatcher> dispatcher, Dispatcher::Start(std::move(options)));
  {
    const std::lock_guard lock(routes_mutex_);
    routes_.emplace(source, dispatcher);
  }
  dispatcher->Wake();  // for what was committed before the route was there
  const std::lock_guard lock(function->mutex);
  function->dispatcher = std::move(dispatcher);
  function->failure.clear();
  return OkStatus();
}

Status Manager::Deploy(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::lock_guard change(function->change);
  if (function->state() == State::kPaused) return ResumeLocked(function);
  if (function->state() != State::kUndeployed || function->removed)
    return WrongState("function.already_deployed", name, function->state(), "deployed");
  if (services_.database.shard_count() != 1) {
    return Error(Code::kUnsupported, "function.several_shards",
                 "functions follow one shard, and this server has {} (storage.shards)",
                 services_.database.shard_count());
  }
  ASSIGN_OR_RETURN(const Prepared prepared, CheckDeployment(function));
  Definition definition = *function->current();
  definition.instance_id = NewInstanceId(&definition.uuid);
  definition.settings.deployed = true;
  definition.settings.processing = true;
  const std::shared_ptr<const Definition> old = function->current();
  const auto set = [&](std::shared_ptr<const Definition> next) {
    const std::lock_guard lock(function->mutex);
    function->definition = std::move(next);
  };
  set(std::make_shared<const Definition>(definition));
  Status deployed = RunOnDeploy(function, prepared, "Deploy");
  if (deployed.ok()) deployed = Save(definition);
  if (!deployed.ok()) {
    set(old);
    RemoveFlow(name);
    (void)timer::DropOwner(services_.database,
                           FollowerOf(definition));  // OnDeploy's; else at start
    return deployed;
  }
  return Run(function, prepared);
}

Status Manager::Undeploy(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::lock_guard change(function->change);
  if (function->state() == State::kUndeployed) {
    return WrongState("function.not_deployed", name, function->state(), "undeployed");
  }
  return UndeployLocked(function, "");
}

// Under the function's change lock. `why` is empty when it was asked for.
Status Manager::UndeployLocked(const FunctionPtr& function, const std::string& why) {
  Definition definition = *function->current();
  const std::string follower = FollowerOf(definition);
  const std::string location = definition.Location();
  definition.settings.deployed = false;
  definition.settings.processing = false;
  RETURN_IF_ERROR(Save(definition));
  std::shared_ptr<Dispatcher> dispatcher;
  {
    const std::lock_guard lock(function->mutex);
    function->definition = std::make_shared<const Definition>(std::move(definition));
    dispatcher.swap(function->dispatcher);
    function->failure = why;
  }
  if (dispatcher != nullptr) dispatcher->Stop();
  RemoveFlow(location);
  RETURN_IF_ERROR(timer::DropOwner(services_.database, follower));
  const Status dropped = services_.database.DropFollower(follower);
  return dropped.code() == Code::kNotFound ? OkStatus() : dropped;
}

Status Manager::Pause(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::lock_guard change(function->change);
  if (function->state() == State::kPaused)
    return WrongState("function.already_paused", name, function->state(), "paused");
  if (function->state() != State::kDeployed)
    return WrongState("function.not_deployed", name, function->state(), "paused");
  Definition definition = *function->current();
  definition.settings.processing = false;
  RETURN_IF_ERROR(Save(definition));
  std::shared_ptr<Dispatcher> dispatcher;
  {
    const std::lock_guard lock(function->mutex);
    function->definition = std::make_shared<const Definition>(std::move(definition));
    dispatcher.swap(function->dispatcher);
  }
  if (dispatcher != nullptr) dispatcher->Stop();
  return OkStatus();
}

Status Manager::Resume(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::lock_guard change(function->change);
  if (function->state() == State::kDeployed)
    return WrongState("function.already_deployed", name, function->state(), "resumed");
  if (function->state() == State::kUndeployed)
    return WrongState("function.not_deployed", name, function->state(), "resumed");
  return ResumeLocked(function);
}

// Under the function's change lock.
Status Manager::ResumeLocked(const FunctionPtr& function) {
  ASSIGN_OR_RETURN(const Prepared prepared, CheckDeployment(function));
  RETURN_IF_ERROR(RunOnDeploy(function, prepared, "Resume"));
  Definition definition = *function->current();
  definition.settings.processing = true;
  RETURN_IF_ERROR(Save(definition));
  {
    const std::lock_guard lock(function->mutex);
    function->definition = std::make_shared<const Definition>(std::move(definition));
  }
  return Run(function, prepared);
}

Status Manager::SetState(const std::string& name, State wanted) {
  ASSIGN_OR_RETURN(const FunctionStatus status, StatusOf(name));
  if (status.state == wanted) return OkStatus();
  if (wanted == State::kDeployed) return Deploy(name);
  return wanted == State::kPaused ? Pause(name) : Undeploy(name);
}

void Manager::OnCatalogChanged() {
  std::map<std::string, FunctionPtr> functions;
  {
    const std::lock_guard lock(mutex_);
    functions = functions_;
  }
  for (const auto& [name, function] : functions) {
    const std::lock_guard change(function->change);
    if (function->removed || function->state() == State::kUndeployed) continue;
    const std::shared_ptr<const Definition> definition = function->current();
    const std::shared_ptr<const db::Catalog> catalog = services_.database.catalog();
    Status gone = CheckKeyspaces(*definition, *catalog);
    // A keyspace of the same name may have been made anew.
    const db::FollowerInfo* follower = catalog->FindFollower(FollowerOf(*definition));
    if (gone.ok() && follower != nullptr && catalog->Find(follower->keyspaces.front()) == nullptr) {
      gone = Error(Code::kNotFound, "function.source_dropped", "the source {} was dropped",
                   definition->source.ToString());
    }
    if (gone.ok()) continue;
    const std::string why = "undeployed, for " + gone.message();
    log::Warn("a function was undeployed", {{"function", name}, {"reason", gone.ToString()}});
    function->AddLog(why);
    if (const Status undeployed = UndeployLocked(function, why); !undeployed.ok()) {
      log::Error("a function can't be undeployed",
                 {{"function", name}, {"error", undeployed.ToString()}});
    }
  }
}

// --- looking ------------------------------------------------------------------------------------

Result<FunctionStatus> Manager::StatusOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  FunctionStatus status;
  status.definition = function->current();
  status.state = function->state();
  const std::lock_guard lock(function->mutex);
  status.failure = function->failure;
  status.caught_up = function->dispatcher != nullptr && function->dispatcher->caught_up();
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

Result<std::vector<std::string>> Manager::Log(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::lock_guard lock(function->mutex);
  return std::vector<std::string>(function->log.begin(), function->log.end());
}

Result<json::Value> Manager::StatisticsOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  json::Value value = PrintStatistics(function->statistics);
  const std::shared_ptr<const Definition> definition = function->current();
  value.Set("function_name", definition->name);
  value.Set("function_scope", json::Value::Object({{"bucket", definition->scope_bucket},
                                                   {"scope", definition->scope_scope}}));
  value.Set("function_id", static_cast<int64_t>(definition->uuid));
  value.Set("dcp_feed_boundary",
            definition->settings.boundary == Boundary::kEverything ? "everything" : "from_now");
  return value;
}

Status Manager::ResetStatistics(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  function->statistics.Reset();
  return OkStatus();
}

}  // namespace sluice::function
