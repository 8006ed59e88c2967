// Failed events of functions, for operators.
#include <set>

#include "function/failed_event.h"
#include "function/managed_function.h"
#include "timer/owned.h"

namespace sluice::function {
namespace {

constexpr std::string_view kOwnerPrefix = "function:";

}  // namespace

// Counts the kept failures.
Status Manager::LoadFailures() {
  for (const auto& [name, function] : All()) RETURN_IF_ERROR(function->failures->Load());
  return OkStatus();
}

// Clears the rests of a crash: failures of deleted functions, and retries of undeployed ones.
Status Manager::DropForgottenFailures() {
  std::set<std::string> known;
  std::set<std::string> deployed;
  for (const auto& [name, function] : All()) {
    const std::string& owner = function->failures->owner();
    known.insert(owner);
    if (function->state() != State::kUndeployed) deployed.insert(failure::RetryOwner(owner));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> owners, failure::Owners(services_.database));
  for (const std::string& owner : owners) {
    if (!owner.starts_with(kOwnerPrefix) || known.contains(owner)) continue;
    RETURN_IF_ERROR(DropFailuresOf(owner));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> waiting, timer::Owners(services_.database));
  for (const std::string& owner : waiting) {
    if (!owner.starts_with(failure::RetryOwner(kOwnerPrefix)) || deployed.contains(owner)) continue;
    RETURN_IF_ERROR(DropTimers(owner));
  }
  return OkStatus();
}

Status Manager::DropFailuresOf(const std::string& owner) {
  for (const db::ShardId shard : running_.owned()) {
    RETURN_IF_ERROR(failure::DropOwnerIn(services_.database, shard, owner));
  }
  return OkStatus();
}

Result<json::Value> Manager::CountFailures(const Function& function) const {
  const uint64_t kept = function.failures->kept();
  ASSIGN_OR_RETURN(const uint64_t waiting, function.failures->CountWaiting());
  return json::Value::Object({{"kept", json::Value::Unsigned(kept)},
                              {"waiting", json::Value::Unsigned(waiting)},
                              {"dead", json::Value::Unsigned(kept - std::min(kept, waiting))}});
}

Result<FailurePage> Manager::Failures(const std::string& name, const failure::FailureId& from,
                                      size_t limit) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  FailurePage page;
  RETURN_IF_ERROR(function->failures->Visit(from, [&](failure::FailureList::Item item) {
    if (page.failures.size() == limit) {
      page.next = item.failure.id;
      return false;
    }
    page.failures.push_back(std::move(item));
    return true;
  }));
  return page;
}

Result<KeptFailure> Manager::FindFailure(const std::string& name,
                                         const failure::FailureId& id) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  ASSIGN_OR_RETURN(failure::FailureList::Item item, function->failures->Find(id));
  ASSIGN_OR_RETURN(std::string payload, function->failures->Payload(id));
  return KeptFailure{std::move(item), std::move(payload)};
}

Status Manager::ReplayFailure(const std::string& name, const failure::FailureId& id) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const MutexLock change(function->change);
  if (function->state() == State::kUndeployed) {
    return WrongState("function.not_deployed", name, function->state(), "given a failed event");
  }
  const uint64_t now_ms = services_.clock.WallMs();
  RETURN_IF_ERROR(function->failures->Retry(id, now_ms));
  timers_.Created(failure::RetryOwner(function->failures->owner()), id.shard, now_ms);
  ++function->statistics.replayed;
  return OkStatus();
}

Result<uint64_t> Manager::ReplayFailures(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const MutexLock change(function->change);
  if (function->state() == State::kUndeployed) {
    return Unexpected(
        WrongState("function.not_deployed", name, function->state(), "given a failed event"));
  }
  const uint64_t now_ms = services_.clock.WallMs();
  ASSIGN_OR_RETURN(const uint64_t count, function->failures->RetryAll(now_ms));
  const std::string owner = failure::RetryOwner(function->failures->owner());
  for (const db::ShardId shard : running_.owned()) timers_.Created(owner, shard, now_ms);
  function->statistics.replayed += count;
  return count;
}

Status Manager::EditFailure(const std::string& name, const failure::FailureId& id,
                            const json::Value& changes) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  return function->failures->Change(id, [&](failure::Failure& failure, std::string& payload) {
    return EditEvent(changes, &failure, &payload);
  });
}

Status Manager::DropFailure(const std::string& name, const failure::FailureId& id) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  RETURN_IF_ERROR(function->failures->Drop(id));
  ++function->statistics.failures_dropped;
  return OkStatus();
}

Result<uint64_t> Manager::DropFailures(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  ASSIGN_OR_RETURN(const uint64_t count, function->failures->DropAll());
  function->statistics.failures_dropped += count;
  return count;
}

}  // namespace sluice::function
