// Counts of the lines of a function's code, and the lag of a function.
#include <algorithm>

#include "function/managed_function.h"

namespace sluice::function {

using json::Value;

Value LagOf(const db::Database& database, const std::set<db::ShardId>& shards,
            const Definition& definition, bool caught_up) {
  Value lag = Value::Object({{"caught_up", caught_up}});
  if (caught_up) {
    lag.Set("commits_behind", 0);
    return lag;
  }
  uint64_t behind = 0;
  for (const db::ShardId shard : shards) {
    const db::Sequence newest = database.followers().LastSequence(shard);
    db::Sequence lowest = newest;
    for (uint16_t lane = 0; lane < kLanes; ++lane) {
      const auto cursor = database.followers().ReadCursor({FollowerOf(definition), shard, lane});
      if (!cursor) return lag;
      if (cursor->backfilling) {
        lag.Set("reads_documents", true);
        return lag;
      }
      lowest = std::min(lowest, cursor->position.done());
    }
    behind += newest - lowest;
  }
  lag.Set("commits_behind", Value::Unsigned(behind));
  return lag;
}

// {"script": code, "lines": {"3": {...}}} as in Couchbase, where the script begins with the
// handler's headers and lines count without them. Couchbase does not have "header_lines", the
// number of those lines, and "counted", whether calls were counted before this request.
Result<Value> Manager::InsightOf(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::shared_ptr<const Definition> definition = function->current();
  const std::string& code = definition->code;
  // Footers come after the code, and are not shown.
  const auto last = static_cast<uint32_t>(std::ranges::count(code, '\n') + 1);
  const bool counted = function->insight.Look(services_.clock.MonotonicNs());
  Value lines = Value::EmptyObject();
  for (const auto& [number, line] : function->insight.lines()) {
    if (number > last) break;
    lines.Set(std::to_string(number),
              Value::Object({{"call_count", static_cast<int64_t>(line.calls)},
                             {"call_time", static_cast<double>(line.call_ns) / 1e6},
                             {"error_count", static_cast<int64_t>(line.errors)},
                             {"error_msg", line.last_error},
                             {"last_log", line.last_log}}));
  }
  std::string script;
  for (const std::string& header : definition->settings.handler_headers) script += header + '\n';
  const auto header_lines = std::ranges::count(script, '\n');
  return Value::Object({{"script", script + code},
                        {"lines", std::move(lines)},
                        {"header_lines", static_cast<int64_t>(header_lines)},
                        {"counted", counted}});
}

}  // namespace sluice::function
