// A function of flows in Lua: tasks/ROUTE.lua, with `local function main(headers, input, instance)`
// and the `db` object of procedures.
#pragma once

#include <string>

#include "flow_engine/sql_task.h"
#include "flow_engine/task.h"
#include "procedure/manager.h"

namespace sluice::flow_engine {

// Errors of lua::Program, with the line.
Result<TaskMaker> MakeLuaTask(db::Database& database, const procedure::Manager& procedures,
                              const std::string& route, const std::string& text,
                              StatementCheck authorize);

}  // namespace sluice::flow_engine
