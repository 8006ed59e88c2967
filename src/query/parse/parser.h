// SQL++ text into statements: hand-written recursive descent, depth-limited. A syntax error is code
// 3000 with line, column, the text near it and the expected text.
#pragma once

#include <string_view>

#include "base/status.h"
#include "query/parse/ast.h"
#include "query/parse/dialect.h"

namespace sluice::query {

// One statement; semicolons may follow it.
Result<Statement> ParseStatement(std::string_view text, Dialect dialect = Dialect::kSqlpp);

// An expression alone, as in a stored index definition.
Result<ExpressionPtr> ParseExpression(std::string_view text);

// One key of CREATE INDEX: `name DESC`, `DISTINCT ARRAY x FOR x IN y END`.
Result<IndexKey> ParseIndexKey(std::string_view text);

}  // namespace sluice::query
