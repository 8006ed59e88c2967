// A function of flows that is a statement: tasks/ROUTE.sql. Its parameters $name are fields of the
// input; the result is the list of its rows.
#pragma once

#include <memory>
#include <string>

#include "query/engine.h"
#include "route/task.h"

namespace sluice::route {

// Error of the query engine when the text can't be planned.
Result<TaskMaker> MakeSqlTask(query::QueryEngine& engine, std::string text);

// Runs one statement; also for the built-in sql.query. For a durable run what it writes is one
// commit; else each document that it writes is.
using StatementPlanPtr = std::shared_ptr<const query::StatementPlan>;
TaskOutput RunStatement(query::QueryEngine& engine, const StatementPlanPtr& plan,
                        const json::Value& arguments, const TaskInput& input);

}  // namespace sluice::route
