// From a parsed statement to one that can run.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "db/database.h"
#include "query/bind/binder.h"
#include "query/parse/ast.h"
#include "query/statement_plan.h"

namespace sluice::query {

// The operators of a profiled plan count their rows and time.
Result<std::shared_ptr<const StatementPlan>> PlanStatement(
    const db::Database& database, const db::Catalog& catalog, const UserFunctionTable& functions,
    const QueryContext& context, Statement statement, std::string text, bool profiled);

}  // namespace sluice::query
