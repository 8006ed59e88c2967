// Names of the columns that a query gives, where they are told by its text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "query/parse/ast.h"

namespace sluice::query {

// Of a query that is bound, of its first operand; nothing for RAW, EXCLUDE and stars of documents.
std::optional<std::vector<std::string>> ResultNames(const QueryBody& body);
// The same before it is bound; none when there is a star.
std::vector<std::string> WrittenNames(const QueryBody& body);

// Columns that are inserted go by their order: names that come twice, or differ between the
// operands of a set operation, are made to fit. `names` are those of the operands before this one.
void NameByOrder(QueryBody& body, std::vector<std::string>* names);
// Of a bound set operation: every operand's columns are called as those of the first, in Comdb2.
void NameByFirst(QueryBody& body);
// A column that is called as one before it gets a number: a, a:1, a:2.
void NumberRepeated(Projection& projection);

// ORDER BY 2 means the second column, in Comdb2: its bound expression; null for anything but a
// number.
Result<ExpressionPtr> TermAtPosition(const Expression& position, const Projection& projection);

}  // namespace sluice::query
