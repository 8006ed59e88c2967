// Counts the calls of durable runs that were under way when the server crashed. A call that was
// under way at each of the last crashes is not made again, for the server would only crash again:
// its task fails, the flow may handle that, and you can retry the run with changed code.
//
// The meta row "flows/crashes" is {"calls": [{"run", "route", "call", "times"}], "given_up": {RUN:
// [ROUTE]}}. "calls" are the calls under way at the last crash, with the number of crashes in a
// row; "given_up" are routes that an unfinished run has given up: one more crash is enough for
// these.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/database.h"
#include "function/under_way.h"

namespace sluice::flow_engine {

struct GivenUpCall {
  uint64_t call = 0;
  std::string why;
};

using GivenUpCalls = std::map<std::string, std::vector<GivenUpCall>>;  // by run

// Counts the calls that the last process left under way. Returns the calls to give up. Only the
// owner of the shard of definitions stores the counts.
enum class StoreCounts : uint8_t { kNo, kYes };
Result<GivenUpCalls> CountCrashes(db::Database& database, const function::UnderWay& under_way,
                                  StoreCounts store);

}  // namespace sluice::flow_engine
