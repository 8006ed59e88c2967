#include "flow_engine/crashed_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "db/catalog_rows.h"
#include "flow_engine/run_rows.h"
#include "json/value.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using Family = db::RowFamily;

constexpr std::string_view kCrashesRow = "flows/crashes";
constexpr int64_t kGivenUpAfter = 3;

Result<Value> Load(const db::Database& database) {
  std::string row;
  ASSIGN_OR_RETURN(const bool found,
                   database.rows().Get(Family::kMeta, db::kDefinitionsShard, kCrashesRow, &row));
  if (!found) return Value::EmptyObject();
  return db::DecodeMetaJson(kCrashesRow, row);
}

Status Save(db::Database& database, const Value& crashes) {
  const bool any = crashes["calls"].size() > 0 || crashes["given_up"].size() > 0;
  db::Commit commit;
  commit.rows.push_back({Family::kMeta, db::kDefinitionsShard, std::string(kCrashesRow),
                         any ? std::optional(db::EncodeMetaJson(crashes)) : std::nullopt,
                         std::nullopt});
  return database.Apply(std::move(commit)).status;
}

// At how many crashes in a row it was under way before.
int64_t TimesOf(const Value& call, const Value& before) {
  for (const Value& known : before.items()) {
    const bool same = known["run"] == call["run"] && known["route"] == call["route"] &&
                      known["call"] == call["call"];
    if (same) return known["times"].AsInt();
  }
  return 0;
}

// The routes that unfinished runs have given up, of those in `before`.
Result<Value> StillGivenUp(const db::Database& database, const Value& before) {
  Value kept = Value::EmptyObject();
  for (const json::Field& field : before.fields()) {
    std::string row;
    ASSIGN_OR_RETURN(const bool live,
                     database.rows().Get(Family::kRun, database.ShardOfKey(field.name()),
                                         LiveKey(field.name()), &row));
    if (live) kept.Set(field.name(), field.value);
  }
  return kept;
}

}  // namespace

Result<GivenUpCalls> CountCrashes(db::Database& database, const function::UnderWay& under_way,
                                  StoreCounts store) {
  GivenUpCalls given_up;
  ASSIGN_OR_RETURN(const Value before, Load(database));
  ASSIGN_OR_RETURN(Value routes_of, StillGivenUp(database, before["given_up"]));
  Value calls = Value::EmptyArray();
  for (const function::UnderWay::Entry& entry : under_way.left()) {
    if (entry.kind != function::UnderWay::Kind::kRun) continue;
    Value call = Value::Object(
        {{"run", entry.owner}, {"route", entry.key}, {"call", static_cast<int64_t>(entry.number)}});
    const int64_t times = TimesOf(call, before["calls"]) + 1;
    call.Set("times", times);
    const auto known = routes_of[entry.owner].items();
    const bool again = std::ranges::find(known, Value(entry.key)) != known.end();
    if (times >= kGivenUpAfter || again) {
      std::string why = fmt::format(
          "route '{}' is not called again: the call was under way at each of the last {} times "
          "that "
          "the server ended by a crash. Change the code, then retry the run",
          entry.key, times);
      log::Error("the server gives up a call of a run", {{"run", entry.owner}, {"why", why}});
      if (!again) {
        Value routes = routes_of[entry.owner];
        if (routes.is_missing()) routes = Value::EmptyArray();
        routes.Append(Value(entry.key));
        routes_of.Set(entry.owner, std::move(routes));
      }
      given_up[entry.owner].push_back({entry.number, std::move(why)});
    }
    calls.Append(std::move(call));
  }
  const Value crashes = Value::Object({{"calls", calls}, {"given_up", routes_of}});
  const bool nothing = before.size() == 0 && calls.size() == 0;
  if (store == StoreCounts::kYes && !nothing && crashes != before) {
    RETURN_IF_ERROR(Save(database, crashes));
  }
  return given_up;
}

}  // namespace sluice::flow_engine
