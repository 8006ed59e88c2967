// What is known of the lines of a function's code.
#include <algorithm>

#include "function/managed_function.h"

namespace sluice::function {

using json::Value;

// {"script": code, "lines": {"3": {...}}} as in Couchbase; "counted" is ours: whether calls were
// counted before this look.
Result<Value> Manager::InsightOf(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  const std::string& code = function->current()->code;
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
  return Value::Object({{"script", code}, {"lines", std::move(lines)}, {"counted", counted}});
}

}  // namespace sluice::function
