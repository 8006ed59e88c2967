// Every expression of a query, for passes that rewrite or collect.
#pragma once

#include <functional>

#include "query/parse/ast.h"

namespace sluice::query {

// Calls `visit` with the root of each expression that stands directly in the query (result terms,
// conditions, sort terms, sources ...), in its WITH queries and in the operands of set operations.
// It does not visit the expressions inside those.
using RootVisitor = std::function<void(ExpressionPtr& root)>;
void ForEachRoot(Query& query, const RootVisitor& visit);
void ForEachRoot(SelectBlock& block, const RootVisitor& visit);

// Calls `visit` with the expression and everything below it, subqueries' expressions included,
// parents first. Not below an expression for which it returns false.
void WalkDeep(ExpressionPtr& expression, const std::function<bool(ExpressionPtr&)>& visit);
void WalkDeep(Query& query, const std::function<bool(ExpressionPtr&)>& visit);

}  // namespace sluice::query
