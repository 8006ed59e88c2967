// Calls of durable runs that were under way when the server ended by a crash: one that is at each
// of the last crashes is not made again, for the server would only crash again. Its task has failed
// then, which the flow may handle, and the run can be retried when the code has been changed.
//
// The meta row "flows/crashes" is {"calls": [{"run", "route", "call", "times"}], "given_up": {RUN:
// [ROUTE]}}: what was under way at the last crash and at how many in a row, and what unfinished
// runs have given up: there, one crash more is enough.
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

// Counts what the process before has left under way. The calls that are not to be made, by run.
Result<std::map<std::string, std::vector<GivenUpCall>>> CountCrashes(
    db::Database& database, const function::UnderWay& under_way);

}  // namespace sluice::flow_engine
