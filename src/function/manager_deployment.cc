// The checks before a function runs, and its start.
#include <algorithm>

#include "function/code_error.h"
#include "function/keyspaces_check.h"
#include "function/managed_function.h"

namespace sluice::function {

Result<Prepared> Manager::CheckCode(const std::shared_ptr<const Definition>& definition) {
  ASSIGN_OR_RETURN(Prepared prepared, Prepare(*definition));
  script::Outcome failed;
  const auto handler = Handler::Make(
      services_, definition, prepared.program, [](std::string_view) {}, &failed);
  if (handler == nullptr) return Unexpected(CodeError(*definition, *prepared.source, failed));
  return prepared;
}

Result<Prepared> Manager::CheckDeployment(const std::shared_ptr<const Definition>& definition,
                                          CheckFor purpose) {
  RETURN_IF_ERROR(CheckSecrets(*definition));
  const GlobalConfig config = this->config();
  if (!config.curl_bindings && !definition->urls.empty()) {
    return Fail(Code::kForbidden, "function.curl_disabled",
                "function '{}' has URL bindings, which disable_curl_binding forbids",
                definition->name);
  }
  RETURN_IF_ERROR(CheckKeyspaces(*definition, *services_.database.catalog()));
  ASSIGN_OR_RETURN(Prepared prepared, CheckCode(definition));
  DataFlow flow = FlowOf(*definition, *prepared.source);
  RETURN_IF_ERROR(CheckStatements(flow));
  const auto known = data_flows_.Lock();
  if (!config.allow_recursion) {
    std::vector<DataFlow> others;
    for (const auto& [name, other] : *known) others.push_back(other);
    RETURN_IF_ERROR(CheckRecursion(flow, others));
  }
  if (purpose == CheckFor::kDeploy) (*known)[definition->Location()] = std::move(flow);
  return prepared;
}

void Manager::NoteDataFlow(const Definition& definition) {
  const auto prepared = Prepare(definition);
  if (!prepared) return;  // it can't run, so it writes nothing
  DataFlow flow = FlowOf(definition, *prepared->source);
  (*data_flows_.Lock())[definition.Location()] = std::move(flow);
}

void Manager::ForgetDataFlow(const std::string& name) { data_flows_.Lock()->erase(name); }

bool Manager::HasFollower(const Definition& definition) const {
  return services_.database.catalog()->FindFollower(FollowerOf(definition)) != nullptr;
}

Status Manager::EnsureFollower(const Definition& definition) {
  if (HasFollower(definition)) return OkStatus();
  db::FollowerOptions options;
  options.name = FollowerOf(definition);
  if (definition.source.wildcard()) {
    options.pattern = definition.source;
  } else {
    ASSIGN_OR_RETURN(const db::KeyspaceId source, services_.database.Resolve(definition.source));
    options.keyspaces = {source};
  }
  options.needs_before = definition.settings.previous;
  options.lanes = kLanes;
  options.start = definition.settings.boundary == Boundary::kEverything
                      ? db::FollowerOptions::Start::kEverything
                      : db::FollowerOptions::Start::kNow;
  return services_.database.followers().Create(options);
}

Status Manager::RunOnDeploy(const FunctionPtr& function, const Prepared& prepared,
                            std::string_view reason) {
  const std::shared_ptr<const Definition> definition = function->current();
  script::Outcome outcome;
  const auto handler = Handler::Make(
      services_, definition, prepared.program,
      [&](std::string_view line) { function->log->Add(LogLevel::kInfo, line); }, &outcome, nullptr,
      function->deploying_stop());
  const auto failed = [&](std::string_view why) {
    return Error(Code::kInvalidArgument, "function.on_deploy_failed", "OnDeploy of '{}' failed: {}",
                 definition->name, why);
  };
  if (handler == nullptr) {
    return outcome.ended == script::Ended::kStopped
               ? failed(outcome.message)
               : CodeError(*definition, *prepared.source, outcome);
  }
  if (!handler->HasOnDeploy()) return OkStatus();
  ASSIGN_OR_RETURN(const Running::Call call,
                   running_.BeginCall(db::kDefinitionsShard, function->deploying_stop()));
  HeldInsight insight(function->insight, services_.clock);
  insight.Begin();
  handler->Attach(function->statistics, insight);
  Effects effects(services_.database, db::kDefinitionsShard, FollowerOf(*definition));
  {
    Handler::Turn turn(*handler);
    outcome = handler->RunOnDeploy(turn, effects, reason, 0);
  }
  insight.Release();
  if (handler->interrupted()) return failed("was stopped");
  if (!outcome.ok()) return failed(outcome.message);
  db::Commit commit = effects.TakeCommit();
  commit.origin = FollowerOf(*definition);
  commit.actor = "function:" + definition->name;
  RETURN_IF_ERROR(services_.database.Apply(std::move(commit)).status);
  function->statistics.timers_created += effects.counts().timers_created;
  function->statistics.timers_cancelled += effects.counts().timers_cancelled;
  return OkStatus();
}

void Manager::WakeFor(Dispatcher& dispatcher, const std::string& follower) {
  const std::shared_ptr<const db::Catalog> catalog = services_.database.catalog();
  const db::FollowerInfo* info = catalog->FindFollower(follower);
  if (info != nullptr) dispatcher.WakeFor(info->keyspaces, commits_);
}

Status Manager::Run(const FunctionPtr& function, const Prepared& prepared) {
  const std::shared_ptr<const Definition> definition = function->current();
  // Another server deploys it. It has stored the definition, and makes the follower now.
  if (!running_.Owns(db::kDefinitionsShard) && !HasFollower(*definition)) return OkStatus();
  RETURN_IF_ERROR(EnsureFollower(*definition));
  function->failures->SetBound(definition->settings.max_failures);
  std::weak_ptr<Function> weak = function;
  Dispatcher::Options options{
      services_,
      timers_,
      *function->failures,
      definition,
      prepared,
      FollowerOf(*definition),
      function->statistics,
      *function->log,
      function->insight,
      [this, weak](db::ShardId shard, const Status& status) { OnFailed(weak, shard, status); }};
  auto dispatcher = std::make_shared<Dispatcher>(std::move(options));
  RETURN_IF_ERROR(running_.Add(dispatcher));
  WakeFor(*dispatcher, FollowerOf(*definition));
  const auto live = function->live.Lock();
  live->dispatcher.swap(dispatcher);
  live->failure.clear();
  return OkStatus();
}

}  // namespace sluice::function
