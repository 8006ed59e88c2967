// ALTER TABLE: columns, keys and constraints of a table that may have rows.
//
// What is added holds for writers first; then the rows that are there are looked at, and it is
// taken back when one of them is against it.
#pragma once

#include "base/status.h"
#include "query/engine.h"
#include "query/parse/ast.h"

namespace sluice::query {

// One action after the other: when one fails, those before it stay. Waits until all are durable.
Status AlterTable(QueryEngine& engine, const AlterTableStatement& statement,
                  Dialect dialect = Dialect::kSqlpp);

}  // namespace sluice::query
