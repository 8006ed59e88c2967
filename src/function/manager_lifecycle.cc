// A function's life cycle: deploy, pause, resume, undeploy.
#include "base/bytes.h"
#include "base/log.h"
#include "base/random.h"
#include "function/keyspaces_check.h"
#include "function/managed_function.h"

namespace sluice::function {
namespace {

// Makes a number for handleruuid and, from it, the instance's name.
std::string NewInstanceId(uint64_t* uuid) {
  const std::string bytes = SecureRandomBytes(4);
  *uuid = ByteReader(bytes).U32();
  return fmt::format("{}-{}", *uuid, NewUuid().substr(0, 8));
}

}  // namespace

// No handler begins after RequestStop: it sets the stop flags that exist, and for a later flag this
// check fails first.
Status Manager::CheckRunning() const {
  if (!stopping_) return OkStatus();
  return Error(Code::kUnavailable, "function.stopping", "the server stops");
}

Status Manager::Deploy(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  ASSIGN_OR_RETURN(const auto change, function->BeginChange());
  if (function->state() == State::kPaused) return ResumeLocked(function);
  if (function->state() != State::kUndeployed || function->removed)
    return WrongState("function.already_deployed", name, function->state(), "deployed");
  const Passing passing(services_, *function, State::kDeploying);
  RETURN_IF_ERROR(CheckRunning());
  ASSIGN_OR_RETURN(const Prepared prepared, CheckDeployment(function->current()));
  function->insight.Reset();
  Definition definition = *function->current();
  definition.instance_id = NewInstanceId(&definition.uuid);
  definition.settings.deployed = true;
  definition.settings.processing = true;
  const std::shared_ptr<const Definition> old = function->current();
  function->SetDefinition(definition);
  Status deployed = RunOnDeploy(function, prepared, "Deploy");
  if (deployed.ok()) deployed = Save(definition);
  if (!deployed.ok()) {
    function->SetDefinition(*old);
    ForgetDataFlow(name);
    (void)DropTimers(FollowerOf(definition));  // OnDeploy's; else at start
    return deployed;
  }
  return Refresh(function, &prepared);
}

Status Manager::Undeploy(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const bool ended_deploying = function->StopOnDeploy();
  ASSIGN_OR_RETURN(const Change change, ended_deploying ? Result<Change>(function->AwaitChange())
                                                        : function->BeginChange());
  if (function->state() == State::kUndeployed) {
    if (ended_deploying) return OkStatus();
    return WrongState("function.not_deployed", name, function->state(), "undeployed");
  }
  return UndeployLocked(function, "");
}

// Under the function's change lock. `why` is empty when a user asked for it.
Status Manager::UndeployLocked(const FunctionPtr& function, const std::string& why) {
  Definition definition = *function->current();
  const std::string follower = FollowerOf(definition);
  const std::string location = definition.Location();
  definition.settings.deployed = false;
  definition.settings.processing = false;
  const Passing passing(services_, *function, State::kUndeploying);
  RETURN_IF_ERROR(Save(definition));
  RETURN_IF_ERROR(Refresh(function));
  function->SetFailure(why);
  RETURN_IF_ERROR(Unhold(location));
  const Status dropped = services_.database.followers().Drop(follower);
  return dropped.code() == Code::kNotFound ? OkStatus() : dropped;
}

Status Manager::Pause(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  ASSIGN_OR_RETURN(const auto change, function->BeginChange());
  if (function->state() == State::kPaused)
    return WrongState("function.already_paused", name, function->state(), "paused");
  if (function->state() != State::kDeployed)
    return WrongState("function.not_deployed", name, function->state(), "paused");
  Definition definition = *function->current();
  definition.settings.processing = false;
  const Passing passing(services_, *function, State::kPausing);
  RETURN_IF_ERROR(Save(definition));
  return Refresh(function);
}

Status Manager::Resume(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  ASSIGN_OR_RETURN(const auto change, function->BeginChange());
  if (function->state() == State::kDeployed)
    return WrongState("function.already_deployed", name, function->state(), "resumed");
  if (function->state() == State::kUndeployed)
    return WrongState("function.not_deployed", name, function->state(), "resumed");
  return ResumeLocked(function);
}

// Under the function's change lock.
Status Manager::ResumeLocked(const FunctionPtr& function) {
  const Passing passing(services_, *function, State::kResuming);
  RETURN_IF_ERROR(CheckRunning());
  ASSIGN_OR_RETURN(const Prepared prepared, CheckDeployment(function->current()));
  RETURN_IF_ERROR(RunOnDeploy(function, prepared, "Resume"));
  RETURN_IF_ERROR(Unhold(function->current()->Location()));
  Definition definition = *function->current();
  definition.settings.processing = true;
  RETURN_IF_ERROR(Save(definition));
  function->held_here = false;
  return Refresh(function, &prepared);
}

Status Manager::SetState(const std::string& name, State wanted) {
  ASSIGN_OR_RETURN(const FunctionStatus status, StatusOf(name));
  if (status.state == wanted) return OkStatus();
  if (wanted == State::kDeployed) return Deploy(name);
  return wanted == State::kPaused ? Pause(name) : Undeploy(name);
}

void Manager::OnCatalogChanged() {
  for (const auto& [name, function] : All()) {
    const MutexLock change(function->change);
    if (function->removed || function->state() == State::kUndeployed) continue;
    const std::shared_ptr<const Definition> definition = function->current();
    const std::shared_ptr<const db::Catalog> catalog = services_.database.catalog();
    Status gone = CheckKeyspaces(*definition, *catalog);
    // A keyspace of the same name may have been made anew.
    const db::FollowerInfo* follower = catalog->FindFollower(FollowerOf(*definition));
    if (gone.ok() && follower != nullptr && !follower->pattern &&
        catalog->Find(follower->keyspaces.front()) == nullptr) {
      gone = Error(Code::kNotFound, "function.source_dropped", "the source {} was dropped",
                   definition->source.ToString());
    }
    if (gone.ok()) {
      const std::shared_ptr<Dispatcher> dispatcher = function->dispatcher();
      if (dispatcher != nullptr && definition->source.wildcard()) {
        WakeFor(*dispatcher, FollowerOf(*definition));
      }
      // Run may have waited for the follower.
      if (const Status refreshed = Refresh(function); !refreshed.ok()) {
        OnNotStarted(function, refreshed);
      }
      continue;
    }
    if (!running_.Owns(db::kDefinitionsShard)) continue;  // its owner undeploys the function
    const std::string why = "undeployed, for " + gone.message();
    log::Warn("a function was undeployed", {{"function", name}, {"reason", gone.ToString()}});
    function->log->Add(LogLevel::kWarning, why);
    if (const Status undeployed = UndeployLocked(function, why); !undeployed.ok()) {
      log::Error("a function can't be undeployed",
                 {{"function", name}, {"error", undeployed.ToString()}});
    }
  }
}

}  // namespace sluice::function
