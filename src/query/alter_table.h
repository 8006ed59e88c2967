// ALTER TABLE: columns, keys and constraints of a table that may have rows.
//
// An added key or constraint first takes effect for writers. Then the existing rows are checked; if
// one of them violates it, it is removed again.
#pragma once

#include "base/status.h"
#include "query/engine.h"
#include "query/parse/ast.h"

namespace sluice::query {

// One action after the other: when one fails, those before it stay. Waits until all are durable.
Status AlterTable(QueryEngine& engine, const AlterTableStatement& statement,
                  Dialect dialect = Dialect::kSqlpp);

}  // namespace sluice::query
