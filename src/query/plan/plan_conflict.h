// ON CONFLICT and REPLACE of an INSERT into a table.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "query/exec/table_conflicts.h"
#include "query/plan/planner.h"

namespace sluice::query {

// The unique keys that the clause is about: the one of its columns, or all.
Result<std::vector<std::shared_ptr<const db::Index>>> ConflictKeys(const db::KeyspaceInfo& table,
                                                                   const ConflictClause& clause);

OnConflict ActionOf(const ConflictClause& clause);

}  // namespace sluice::query
