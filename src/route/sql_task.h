// A function of flows that is a statement: tasks/ROUTE.sql. Its parameters $name are fields of the
// input; the result is the list of its rows.
#pragma once

#include <string>

#include "query/engine.h"
#include "route/task.h"

namespace sluice::route {

// Error of the query engine when the text can't be planned.
Result<TaskMaker> MakeSqlTask(query::QueryEngine& engine, std::string text);

// Runs one statement; also for the built-in sql.query.
TaskOutput RunStatement(query::QueryEngine& engine, const std::string& text,
                        const json::Value& arguments, uint64_t timeout_ms);

}  // namespace sluice::route
