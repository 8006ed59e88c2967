#include "function/manager.h"

#include <algorithm>
#include <deque>

#include "base/bytes.h"
#include "base/log.h"
#include "base/random.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

constexpr std::string_view kRowPrefix = "function/";
constexpr size_t kKeptLogLines = 1000;

std::string RowKey(const std::string& name) { return std::string(kRowPrefix) + name; }
std::string FollowerOf(const Definition& definition) {
  return "function:" + definition.instance_id;
}

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
  std::mutex change;  // held while its state is changed

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

Manager::Manager(const Services& services) : services_(services) {}
Manager::~Manager() { Stop(); }

Status Manager::Start() {
  storage::IterateOptions options;
  options.lower = kRowPrefix;
  options.upper = PrefixEnd(kRowPrefix);
  const auto iterator =
      services_.database.store().NewIterator(storage::Family::kMeta, std::move(options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const json::Value value, json::Parse(iterator->value()));
    ASSIGN_OR_RETURN(Definition definition, ParseDefinition(value));
    auto function = std::make_shared<Function>();
    function->definition = std::make_shared<const Definition>(std::move(definition));
    functions_.emplace(function->definition->name, std::move(function));
  }
  RETURN_IF_ERROR(iterator->status());
  for (uint16_t shard = 0; shard < services_.database.shard_count(); ++shard) {
    listeners_.push_back(services_.database.OnCommitted(
        shard, [this](const db::Committed& committed) { OnCommitted(committed); }));
  }
  for (const auto& [name, function] : functions_) {
    if (function->state() != State::kDeployed) continue;
    // It was compiled when it was deployed; now its workers do that when the first event comes.
    const Result<Prepared> prepared = Prepare(*function->current());
    const Status started = prepared ? Run(function, *prepared) : prepared.error();
    if (!started.ok()) OnFailed(function, started);
  }
  return OkStatus();
}

void Manager::Stop() {
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
  commit.rows.push_back({storage::Family::kMeta, RowKey(definition.name),
                         json::ToText(PrintDefinition(definition)), std::nullopt});
  return services_.database.Apply(std::move(commit)).status;
}

Status Manager::Store(Definition definition) {
  definition.settings.deployed = false;
  definition.settings.processing = false;
  FunctionPtr function;
  {
    const std::lock_guard lock(mutex_);
    FunctionPtr& slot = functions_[definition.name];
    if (slot == nullptr) {
      slot = std::make_shared<Function>();
      slot->definition = std::make_shared<const Definition>(definition);
    }
    function = slot;
  }
  const std::lock_guard change(function->change);
  const State state = function->state();
  if (state == State::kDeployed)
    return WrongState("function.not_undeployed", definition.name, state, "changed");
  if (state == State::kPaused) {
    const std::shared_ptr<const Definition> old = function->current();
    if (old->source != definition.source)
      return WrongState("function.not_undeployed", definition.name, state, "moved");
    definition.settings.deployed = true;
    definition.instance_id = old->instance_id;
    definition.uuid = old->uuid;
  }
  RETURN_IF_ERROR(Save(definition));
  const std::lock_guard lock(function->mutex);
  function->definition = std::make_shared<const Definition>(std::move(definition));
  return OkStatus();
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
  const std::lock_guard lock(mutex_);
  functions_.erase(name);
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
  db::Transaction transaction(services_.database, db::Isolation::kSnapshot);
  {
    Handler::Turn turn(*handler);
    outcome = handler->RunOnDeploy(turn, transaction, reason, 0);
  }
  if (!outcome.ok()) {
    return Error(Code::kInvalidArgument, "function.on_deploy_failed", "OnDeploy of '{}' failed: {}",
                 definition->name, outcome.message);
  }
  db::Commit commit = transaction.TakeCommit();
  commit.origin = FollowerOf(*definition);
  return services_.database.Apply(std::move(commit)).status;
}

Status Manager::Run(const FunctionPtr& function, const Prepared& prepared) {
  const std::shared_ptr<const Definition> definition = function->current();
  ASSIGN_OR_RETURN(const db::KeyspaceId source, services_.database.Resolve(definition->source));
  RETURN_IF_ERROR(EnsureFollower(*definition, source));
  std::weak_ptr<Function> weak = function;
  Dispatcher::Options options{services_,
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
  if (function->state() != State::kUndeployed)
    return WrongState("function.already_deployed", name, function->state(), "deployed");
  ASSIGN_OR_RETURN(const Prepared prepared, CheckCode(function));
  if (const auto source = services_.database.Resolve(function->current()->source); !source) {
    return source.error();
  }
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
  if (const Status ran = RunOnDeploy(function, prepared, "Deploy"); !ran.ok()) {
    set(old);
    return ran;
  }
  if (const Status saved = Save(definition); !saved.ok()) {
    set(old);
    return saved;
  }
  return Run(function, prepared);
}

Status Manager::Undeploy(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::lock_guard change(function->change);
  if (function->state() == State::kUndeployed) {
    return WrongState("function.not_deployed", name, function->state(), "undeployed");
  }
  Definition definition = *function->current();
  const std::string follower = FollowerOf(definition);
  definition.settings.deployed = false;
  definition.settings.processing = false;
  RETURN_IF_ERROR(Save(definition));
  std::shared_ptr<Dispatcher> dispatcher;
  {
    const std::lock_guard lock(function->mutex);
    function->definition = std::make_shared<const Definition>(std::move(definition));
    dispatcher.swap(function->dispatcher);
  }
  if (dispatcher != nullptr) dispatcher->Stop();
  const Status dropped = services_.database.DropFollower(follower);
  return dropped.code() == Code::kNotFound ? OkStatus() : dropped;
}

Status Manager::Pause(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::lock_guard change(function->change);
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
  if (function->state() != State::kPaused)
    return WrongState("function.not_paused", name, function->state(), "resumed");
  ASSIGN_OR_RETURN(const Prepared prepared, CheckCode(function));
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

// --- looking ------------------------------------------------------------------------------------

Result<FunctionStatus> Manager::StatusOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  FunctionStatus status;
  status.name = name;
  status.state = function->state();
  const std::lock_guard lock(function->mutex);
  status.failure = function->failure;
  status.caught_up = function->dispatcher != nullptr && function->dispatcher->caught_up();
  return status;
}

std::vector<FunctionStatus> Manager::Statuses() const {
  std::vector<FunctionStatus> statuses;
  for (const Definition& definition : List()) {
    if (Result<FunctionStatus> status = StatusOf(definition.name)) {
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
  const Statistics& counts = function->statistics;
  const auto number = [](const std::atomic<uint64_t>& count) {
    return json::Value::Unsigned(count.load());
  };
  const json::Value execution =
      json::Value::Object({{"on_update_success", number(counts.on_update_success)},
                           {"on_update_failure", number(counts.on_update_failure)},
                           {"on_delete_success", number(counts.on_delete_success)},
                           {"on_delete_failure", number(counts.on_delete_failure)}});
  const json::Value failures =
      json::Value::Object({{"timeout_count", number(counts.timeouts)},
                           {"bkt_ops_cas_mismatch_count", number(counts.conflicts)}});
  return json::Value::Object(
      {{"function_name", name},
       {"execution_stats", execution},
       {"failure_stats", failures},
       {"event_processing_stats",
        json::Value::Object({{"dcp_mutation_suppressed_counter", number(counts.suppressed)}})},
       {"events_remaining", json::Value::Object({{"dcp_backlog", number(counts.backlog)}})}});
}

}  // namespace sluice::function
