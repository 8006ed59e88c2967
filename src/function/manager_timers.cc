// Timers of functions, for operators.
#include <functional>
#include <set>

#include "db/conflict_retry.h"
#include "function/manager.h"
#include "timer/owned.h"
#include "timer/write_set.h"

namespace sluice::function {
namespace {

constexpr std::string_view kTimerOwnerPrefix = "function:";

Status NoTimer(const std::string& name, const std::string& callback, const std::string& reference) {
  return Error(Code::kNotFound, "timer.not_found", "function '{}' has no timer '{}' of '{}'", name,
               reference, callback);
}

// Runs `change` on the owner's timers in one shard and commits it; again after a conflict. False if
// `change` gives false.
using TimerStep = std::function<Result<bool>(timer::WriteSet&)>;
Result<bool> ChangeTimersIn(db::Database& database, db::ShardId shard, const std::string& owner,
                            const TimerStep& change) {
  for (db::ConflictRetry retry;;) {
    timer::WriteSet timers(database, shard, owner);
    ASSIGN_OR_RETURN(const bool changed, change(timers));
    if (!changed) return false;
    db::Commit commit;
    commit.shard = shard;
    timers.MoveTo(&commit);
    const Status applied = database.Apply(std::move(commit)).status;
    if (applied.ok()) return true;
    if (retry.Again(applied)) continue;
    if (applied.code() != Code::kConflict) return Unexpected(applied);
    return Fail(Code::kConflict, "timer.conflict",
                "other commits changed the timer on each of {} attempts", retry.attempt());
  }
}

// In every shard. False if that changes nothing.
Result<bool> ChangeTimers(db::Database& database, const std::string& owner,
                          const TimerStep& change) {
  bool changed = false;
  for (db::ShardId shard = 0; shard < database.shard_count(); ++shard) {
    ASSIGN_OR_RETURN(const bool here, ChangeTimersIn(database, shard, owner, change));
    changed = changed || here;
  }
  return changed;
}

}  // namespace

// Drops the timers that a crash left: of functions that are no longer deployed, and of deployments
// that ended after OnDeploy had run.
Status Manager::DropForgottenTimers() {
  std::set<std::string> known;
  for (const auto& [name, function] : All()) {
    const Result<Definition> definition = Find(name);
    if (definition && definition->settings.deployed) known.insert(FollowerOf(*definition));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> owners, timer::Owners(services_.database));
  for (const std::string& owner : owners) {
    if (!owner.starts_with(kTimerOwnerPrefix) || known.contains(owner)) continue;
    RETURN_IF_ERROR(DropTimers(owner));
  }
  return OkStatus();
}

Status Manager::DropTimers(const std::string& owner) {
  for (const db::ShardId shard : running_.owned()) {
    RETURN_IF_ERROR(timer::DropOwnerIn(services_.database, shard, owner));
  }
  return OkStatus();
}

Result<TimerPage> Manager::Timers(const std::string& name, const timer::Moment& from,
                                  size_t limit) const {
  ASSIGN_OR_RETURN(const Definition definition, Find(name));
  TimerPage page;
  RETURN_IF_ERROR(
      timer::Visit(services_.database, FollowerOf(definition), from, [&](timer::Timer timer) {
        if (page.timers.size() == limit) {
          page.next = timer.moment;
          return false;
        }
        page.timers.push_back(std::move(timer));
        return true;
      }));
  return page;
}

Status Manager::CancelTimer(const std::string& name, const std::string& callback,
                            const std::string& reference) {
  ASSIGN_OR_RETURN(const Definition definition, Find(name));
  ASSIGN_OR_RETURN(const bool cancelled, ChangeTimers(services_.database, FollowerOf(definition),
                                                      [&](timer::WriteSet& timers) -> Result<bool> {
                                                        return timers.Cancel(callback, reference);
                                                      }));
  return cancelled ? OkStatus() : NoTimer(name, callback, reference);
}

Status Manager::FireTimer(const std::string& name, const std::string& callback,
                          const std::string& reference) {
  ASSIGN_OR_RETURN(const Definition definition, Find(name));
  const std::string owner = FollowerOf(definition);
  const uint64_t now_ms = services_.clock.WallMs();
  const auto fire = [&](timer::WriteSet& timers) -> Result<bool> {
    ASSIGN_OR_RETURN(std::optional<timer::Timer> timer, timers.Find(callback, reference));
    if (!timer) return false;
    timer->moment = {.due_ms = now_ms, .id = services_.database.NewCas()};
    RETURN_IF_ERROR(timers.Create(*timer));
    return true;
  };
  ASSIGN_OR_RETURN(const bool fired, ChangeTimers(services_.database, owner, fire));
  if (!fired) return NoTimer(name, callback, reference);
  for (const db::ShardId shard : running_.owned()) timers_.Created(owner, shard, now_ms);
  return OkStatus();
}

}  // namespace sluice::function
