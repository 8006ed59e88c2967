// Splits a WHERE or ON into its AND terms, each with the variables that it uses.
#pragma once

#include <algorithm>
#include <vector>

#include "query/parse/ast.h"

namespace sluice::query {

// Sorted, each once; subqueries' references to outer variables included.
std::vector<VariableId> ReferencedVariables(const Expression& expression);
bool HasSubquery(const Expression& expression);

struct Condition {
  const Expression* expression = nullptr;
  std::vector<VariableId> variables;
  // It follows from others, which are checked: it only helps to find rows.
  bool implied = false;

  bool Uses(VariableId variable) const { return std::ranges::binary_search(variables, variable); }
  // Whether all variables that are also in `others` are in `known`.
  bool UsesOnly(const std::vector<VariableId>& known, const std::vector<VariableId>& others) const;
};

// The operands of an AND, each a condition; one for anything else, none for null.
std::vector<Condition> SplitConditions(const Expression* expression);
// The operands of an OR, also those of an OR in an OR; empty for anything else.
std::vector<const Expression*> SplitAlternatives(const Expression& expression);

// Every block of a query, deep: in WITH, set operations, subqueries of expressions.
void ForEachBlock(Query& query, const std::function<void(SelectBlock&)>& visit);
void ForEachBlock(ExpressionPtr& expression, const std::function<void(SelectBlock&)>& visit);

}  // namespace sluice::query
