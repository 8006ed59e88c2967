// Routes that every app has.
#pragma once

#include <map>
#include <string>

#include "flow_engine/task.h"
#include "query/engine.h"

namespace sluice::flow_engine {

// no.op, echo, simple.exception.handler, resilience.handler, sql.query, kv.get, kv.put, kv.delete.
std::map<std::string, TaskMaker> Builtins(query::QueryEngine& engine, const Clock& clock);

}  // namespace sluice::flow_engine
