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

// A profiled plan's operators count what they do. Only keyspaces that pass the guard are looked up.
Result<std::shared_ptr<const StatementPlan>> PlanStatement(
    const db::Database& database, const db::Catalog& catalog, const UserFunctionTable& functions,
    const QueryContext& context, Statement statement, std::string text, bool profiled,
    const KeyspaceGuard& guard = nullptr);

}  // namespace sluice::query
