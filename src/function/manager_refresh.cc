// From rows to what runs. Every change of a function's definition or state stores its row and then
// comes here, and rows that others write come here from a thread of their own. So there is one way
// for a function to change in memory, and what a user's call changes has taken effect when the call
// returns.
#include "base/log.h"
#include "db/catalog_rows.h"
#include "function/managed_function.h"

namespace sluice::function {

Result<std::optional<Definition>> Manager::Stored(const std::string& name) const {
  const std::string key = std::string(kDefinitionRows) + name;
  std::string row;
  ASSIGN_OR_RETURN(const bool found, services_.database.rows().Get(
                                         db::RowFamily::kMeta, db::kDefinitionsShard, key, &row));
  if (!found) return std::nullopt;
  ASSIGN_OR_RETURN(const json::Value value, db::DecodeMetaJson(key, row));
  ASSIGN_OR_RETURN(Definition definition, ParseDefinition(value));
  return definition;
}

Status Manager::Refresh(const FunctionPtr& function, const Prepared* prepared) {
  const std::shared_ptr<const Definition> old = function->current();
  ASSIGN_OR_RETURN(std::optional<Definition> stored, Stored(old->Location()));
  if (!stored) return Forget(function);
  function->log->Configure(stored->settings.log);
  const State next = StateOf(stored->settings);
  if (next != State::kDeployed) function->held_here = false;
  if (function->held_here) stored->settings.processing = false;
  const bool same =
      PrintDefinition(*old, Secrets::kShown) == PrintDefinition(*stored, Secrets::kShown);
  if (same && prepared == nullptr) {
    const auto live = function->live.Lock();
    const bool missing = live->dispatcher == nullptr && live->failure.empty();
    if (function->held_here || next != State::kDeployed || !missing) return OkStatus();
  }
  return Adopt(function, std::move(*stored), prepared);
}

// A function that runs is stopped, and goes on at its cursors with the new definition.
Status Manager::Adopt(const FunctionPtr& function, Definition definition,
                      const Prepared* prepared) {
  const std::shared_ptr<const Definition> old = function->current();
  if (old->code != definition.code) function->insight.Reset();
  function->SetDefinition(std::move(definition));
  StopDispatcher(*function);
  const std::shared_ptr<const Definition> now = function->current();
  const State state = StateOf(now->settings);
  if (state == State::kUndeployed) {
    ForgetDataFlow(now->Location());
    if (StateOf(old->settings) == State::kUndeployed) return OkStatus();
    function->SetFailure("");
    RETURN_IF_ERROR(DropTimers(FollowerOf(*old)));
    // Failed events that waited for another try are dead; they stay in the list.
    return DropTimers(failure::RetryOwner(function->failures->owner()));
  }
  if (prepared != nullptr) return Run(function, *prepared);
  NoteDataFlow(*now);
  if (state != State::kDeployed) return OkStatus();
  ASSIGN_OR_RETURN(const Prepared made, CheckCode(now));
  return Run(function, made);
}

Status Manager::Forget(const FunctionPtr& function) {
  const std::string name = function->current()->Location();
  StopDispatcher(*function);
  ForgetDataFlow(name);
  // Before another function can have the name. After an error, the next start drops the rest.
  const Status dropped = DropFailuresOf(function->failures->owner());
  function->removed = true;
  function->log->Remove();
  functions_.Lock()->erase(name);
  return dropped;
}

// Null when there is neither a function nor a row.
Result<Manager::FunctionPtr> Manager::FindOrMake(const std::string& name) {
  if (const auto known = Get(name)) return *known;
  ASSIGN_OR_RETURN(std::optional<Definition> stored, Stored(name));
  if (!stored) return nullptr;
  auto made = std::make_shared<Function>(services_.database, logs_, std::move(*stored));
  RETURN_IF_ERROR(made->failures->Load());
  return functions_.Lock()->try_emplace(name, std::move(made)).first->second;
}

void Manager::OnRowChanged(const std::string& name) {
  while (!stopping_) {
    const Result<FunctionPtr> function = FindOrMake(name);
    if (!function) {
      log::Error("the changed row of a function can't be used",
                 {{"function", name}, {"error", function.error().ToString()}});
      return;
    }
    if (*function == nullptr) return;
    const Change change = (*function)->AwaitChange();
    if ((*function)->removed) continue;  // meanwhile: look again
    if (const Status refreshed = Refresh(*function); !refreshed.ok()) {
      OnNotStarted(*function, refreshed);
    }
    services_.Progressed();
    return;
  }
}

}  // namespace sluice::function
