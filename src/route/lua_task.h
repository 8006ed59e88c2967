// A function of flows in Lua: tasks/ROUTE.lua, with `local function main(headers, input, instance)`
// and the `db` object of procedures.
#pragma once

#include <string>

#include "procedure/manager.h"
#include "route/sql_task.h"
#include "route/task.h"

namespace sluice::route {

// Errors of lua::Program, with the line.
Result<TaskMaker> MakeLuaTask(db::Database& database, const procedure::Manager& procedures,
                              const std::string& route, const std::string& text,
                              StatementCheck authorize);

}  // namespace sluice::route
