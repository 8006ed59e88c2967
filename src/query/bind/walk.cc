#include "query/bind/walk.h"

namespace sluice::query {
namespace {

void Visit(ExpressionPtr& expression, const RootVisitor& visit) {
  if (expression != nullptr) visit(expression);
}

void VisitAll(std::vector<ExpressionPtr>& expressions, const RootVisitor& visit) {
  for (ExpressionPtr& expression : expressions) Visit(expression, visit);
}

void VisitAll(std::vector<NamedExpression>& expressions, const RootVisitor& visit) {
  for (NamedExpression& named : expressions) Visit(named.expression, visit);
}

void VisitSort(std::vector<SortTerm>& terms, const RootVisitor& visit) {
  for (SortTerm& term : terms) {
    Visit(term.expression, visit);
    Visit(term.direction, visit);
  }
}

void VisitTerm(FromTerm& term, const RootVisitor& visit) {
  Visit(term.expression, visit);
  if (term.use_keys) Visit(term.use_keys->keys, visit);
}

void VisitFrom(FromClause& from, const RootVisitor& visit) {
  VisitTerm(from.first, visit);
  for (JoinClause& join : from.joins) {
    VisitTerm(join.term, visit);
    Visit(join.on, visit);
    Visit(join.on_keys, visit);
    Visit(join.on_key, visit);
  }
}

void VisitBody(QueryBody& body, const RootVisitor& visit) {
  if (auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&body)) {
    ForEachRoot(**block, visit);
  } else if (auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    VisitBody((*operation)->left, visit);
    VisitBody((*operation)->right, visit);
  } else {
    ForEachRoot(*std::get<QueryPtr>(body), visit);
  }
}

}  // namespace

void ForEachRoot(SelectBlock& block, const RootVisitor& visit) {
  if (block.from) VisitFrom(*block.from, visit);
  VisitAll(block.let, visit);
  Visit(block.where, visit);
  if (block.group) {
    VisitAll(block.group->keys, visit);
    VisitAll(block.group->letting, visit);
    Visit(block.group->having, visit);
  }
  VisitAll(block.aggregates, visit);
  VisitAll(block.window_calls, visit);
  for (ResultTerm& term : block.projection.terms) Visit(term.expression, visit);
  VisitAll(block.projection.exclude, visit);
}

void ForEachRoot(Query& query, const RootVisitor& visit) {
  for (CommonTable& table : query.with) Visit(table.expression, visit);
  VisitBody(query.body, visit);
  VisitSort(query.order_by, visit);
  Visit(query.limit, visit);
  Visit(query.offset, visit);
}

void WalkDeep(ExpressionPtr& expression, const std::function<bool(ExpressionPtr&)>& visit) {
  if (expression == nullptr || !visit(expression)) return;
  ForEachChild(*expression, [&](ExpressionPtr& child) { WalkDeep(child, visit); });
  if (expression->query != nullptr) WalkDeep(*expression->query, visit);
}

void WalkDeep(Query& query, const std::function<bool(ExpressionPtr&)>& visit) {
  ForEachRoot(query, [&](ExpressionPtr& root) { WalkDeep(root, visit); });
}

}  // namespace sluice::query
