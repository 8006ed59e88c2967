// A function of flows that is a statement: tasks/ROUTE.sql. Its parameters $name are fields of the
// input; the result is the list of its rows.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "flow_engine/task.h"
#include "query/engine.h"

namespace sluice::flow_engine {

// Whether a route may run a statement; null: it may run all.
using StatementCheck = std::function<Status(const query::StatementPlan& plan)>;

// Errors of the query engine when the text can't be planned, and of the check.
Result<TaskMaker> MakeSqlTask(query::QueryEngine& engine, std::string text,
                              StatementCheck authorize);

// The same, but plans the text when it is called: callers get the error while it can't be planned.
TaskMaker MakeLateSqlTask(query::QueryEngine& engine, std::string text, StatementCheck authorize);

struct TaskStatement {
  std::shared_ptr<const query::StatementPlan> plan;
  StatementCheck authorize = nullptr;
};

// Runs one statement; also for the built-in sql.query. In a durable run all its writes are one
// commit; otherwise each document is a commit of its own.
TaskOutput RunStatement(query::QueryEngine& engine, const TaskStatement& statement,
                        const json::Value& arguments, const TaskInput& input);

}  // namespace sluice::flow_engine
