// Columns of tables as expressions over their row.
#pragma once

#include <string_view>

#include "base/status.h"
#include "query/bind/binder.h"
#include "query/parse/ast.h"

namespace sluice::query {

// An expression that reads a column of a row in the column's type.
ExpressionPtr MakeColumn(const Variables& variables, VariableId row, const db::TableColumn& column,
                         const TextPlace& place);

// A condition over one row of a table, as in CHECK: its names are columns.
Result<ExpressionPtr> BindCheck(const Variables& variables, VariableId row,
                                std::string_view condition);

}  // namespace sluice::query
