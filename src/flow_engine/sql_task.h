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

// The same, but what is wrong with the text is told to those who call, until it can be planned.
TaskMaker MakeLateSqlTask(query::QueryEngine& engine, std::string text, StatementCheck authorize);

struct TaskStatement {
  std::shared_ptr<const query::StatementPlan> plan;
  StatementCheck authorize = nullptr;
};

// Runs one statement; also for the built-in sql.query. For a durable run what it writes is one
// commit; else each document that it writes is.
TaskOutput RunStatement(query::QueryEngine& engine, const TaskStatement& statement,
                        const json::Value& arguments, const TaskInput& input);

}  // namespace sluice::flow_engine
