// Plans of statements that write.
#pragma once

#include "base/status.h"
#include "query/exec/operator.h"
#include "query/parse/ast.h"
#include "query/plan/planner.h"

namespace sluice::query {

Result<QueryPlan> PlanWrite(Planner& planner, InsertStatement& statement);
Result<QueryPlan> PlanWrite(Planner& planner, UpdateStatement& statement);
Result<QueryPlan> PlanWrite(Planner& planner, DeleteStatement& statement);
Result<QueryPlan> PlanWrite(Planner& planner, MergeStatement& statement);

}  // namespace sluice::query
