// Routes that every app has.
#pragma once

#include <map>
#include <string>

#include "query/engine.h"
#include "route/task.h"

namespace sluice::route {

// no.op, echo, simple.exception.handler, resilience.handler, sql.query, kv.get, kv.put, kv.delete.
std::map<std::string, TaskMaker> Builtins(query::QueryEngine& engine, const Clock& clock);

}  // namespace sluice::route
