// Holds functions at a start: all of them if the configuration asks for it, or one whose same event
// was running at each of the last crashes, because the server would only crash again.
//
// The meta row "functions/crashes" is {"events": [{"function", "kind", "number", "key", "times"}],
// "held": {FUNCTION: WHY}}. It has the events that were running at the last crash; "times" is the
// number of crashes in a row.
#include <algorithm>

#include "base/log.h"
#include "db/catalog_rows.h"
#include "function/managed_function.h"

namespace sluice::function {
namespace {

constexpr std::string_view kCrashesRow = "functions/crashes";
constexpr int64_t kHeldAfter = 3;

json::Value ViewOf(const UnderWay::Entry& entry) {
  return json::Value::Object({{"function", entry.owner},
                              {"kind", entry.kind == UnderWay::Kind::kTimer ? "timer" : "document"},
                              {"number", static_cast<int64_t>(entry.number)},
                              {"key", entry.key}});
}

// The number of crashes in a row, before the last one, at which the event was running.
int64_t TimesOf(const json::Value& event, const json::Value& before) {
  for (const json::Value& known : before.items()) {
    const bool same = std::ranges::all_of(event.fields(), [&](const json::Field& field) {
      return known[field.name()] == field.value;
    });
    if (same) return known["times"].AsInt();
  }
  return 0;
}

}  // namespace

Result<json::Value> Manager::LoadCrashes() {
  std::string row;
  ASSIGN_OR_RETURN(const bool found,
                   services_.database.rows().Get(db::RowFamily::kMeta, db::kDefinitionsShard,
                                                 kCrashesRow, &row));
  if (!found) return json::Value::EmptyObject();
  return db::DecodeMetaJson(kCrashesRow, row);
}

Status Manager::SaveCrashes(const json::Value& crashes) {
  db::Commit commit;
  const bool any = crashes["events"].size() > 0 || crashes["held"].size() > 0;
  commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard, std::string(kCrashesRow),
                         any ? std::optional(db::EncodeMetaJson(crashes)) : std::nullopt,
                         std::nullopt});
  return services_.database.Apply(std::move(commit)).status;
}

// Runs before any function does.
Status Manager::HoldFunctions() {
  if (services_.under_way == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const json::Value before, LoadCrashes());
  json::Value held = json::Value::EmptyObject();
  const std::map<std::string, FunctionPtr> functions = All();
  for (const auto& [name, function] : functions) {
    if (before["held"][name].is_string()) {
      held.Set(name, before["held"][name]);
      function->SetFailure(std::string(before["held"][name].AsString()));
    }
  }
  json::Value events = json::Value::EmptyArray();
  for (const UnderWay::Entry& entry : services_.under_way->left()) {
    if (entry.kind == UnderWay::Kind::kRun) continue;
    json::Value event = ViewOf(entry);
    const int64_t times = TimesOf(event, before["events"]) + 1;
    event.Set("times", times);
    const auto found = functions.find(entry.owner);
    if (times >= kHeldAfter && found != functions.end() &&
        found->second->state() == State::kDeployed) {
      const std::string why = fmt::format(
          "held: {} '{}' was under way at each of the last {} times that the server ended by a "
          "crash. Change the code, then resume the function",
          event["kind"].AsString(), entry.key, times);
      RETURN_IF_ERROR(Hold(found->second, why));
      held.Set(entry.owner, why);
    }
    events.Append(std::move(event));
  }
  json::Value crashes = json::Value::Object({{"events", events}, {"held", held}});
  if (crashes == before || (before.size() == 0 && events.size() == 0)) return OkStatus();
  return SaveCrashes(crashes);
}

// Pauses the function, also on disk.
Status Manager::Hold(const FunctionPtr& function, const std::string& why) {
  Definition definition = *function->current();
  definition.settings.processing = false;
  RETURN_IF_ERROR(Save(definition));
  RETURN_IF_ERROR(Refresh(function));
  function->SetFailure(why);
  function->log->Add(LogLevel::kError, why);
  log::Error("a function is held", {{"function", function->current()->Location()}, {"why", why}});
  return OkStatus();
}

// Pauses all functions, but not on disk: the next start without the option runs them.
void Manager::HoldAll() {
  const std::string why =
      "held: the server was started with functions.hold. Resume it to let it run";
  for (const auto& [name, function] : All()) {
    if (function->state() != State::kDeployed) continue;
    Definition definition = *function->current();
    definition.settings.processing = false;
    function->SetDefinition(std::move(definition));
    function->held_here = true;
    function->SetFailure(why);
    log::Warn("a function is held", {{"function", name}, {"why", why}});
  }
}

// A user has resumed or undeployed the function.
Status Manager::Unhold(const std::string& name) {
  const MutexLock lock(shared_rows_mutex_);
  ASSIGN_OR_RETURN(json::Value crashes, LoadCrashes());
  if (crashes["held"][name].is_missing()) return OkStatus();
  json::Value held = crashes["held"];
  held.Remove(name);
  crashes.Set("held", std::move(held));
  return SaveCrashes(crashes);
}

}  // namespace sluice::function
