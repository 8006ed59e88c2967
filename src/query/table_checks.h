// Parts of a table's schema that are SQL++: defaults and checks.
#pragma once

#include "base/status.h"
#include "db/database.h"
#include "db/table_schema.h"
#include "json/value.h"

namespace sluice::query {

// The value of a column's DEFAULT, which it has. Error 19240.
Result<json::Value> DefaultOf(const db::Database& database, const db::TableSchema& schema,
                              const db::TableColumn& column);

// Each must be a condition over columns.
Status CheckChecks(const db::TableSchema& schema);

}  // namespace sluice::query
