// Names of a query's result columns, as far as its text determines them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "query/parse/ast.h"

namespace sluice::query {

// The names of a bound query (of its first operand); nullopt for RAW, EXCLUDE and `*` over
// documents.
std::optional<std::vector<std::string>> ResultNames(const QueryBody& body);
// The same before binding; empty if the query has a `*`.
std::vector<std::string> WrittenNames(const QueryBody& body);

// Columns that are inserted go by their order: names that come twice, or differ between the
// operands of a set operation, are made to fit. `names` are those of the operands before this one.
void NameByOrder(QueryBody& body, std::vector<std::string>* names);
// For a bound set operation in Comdb2's dialect: gives all operands the column names of the first.
void NameByFirst(QueryBody& body);
// A column that is called as one before it gets a number: a, a:1, a:2.
void NumberRepeated(Projection& projection);

// ORDER BY 2 means the second column, in Comdb2: its bound expression; null for anything but a
// number.
Result<ExpressionPtr> TermAtPosition(const Expression& position, const Projection& projection);

}  // namespace sluice::query
