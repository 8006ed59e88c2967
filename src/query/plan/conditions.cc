// Splits conditions and finds the variables in them. Everything here only reads the tree; the
// const_casts are for the one walk (ForEachChild), which readers and rewriters share.
#include "query/plan/conditions.h"

#include "query/bind/walk.h"

namespace sluice::query {
namespace {

void Collect(const Expression& expression, const std::function<void(const Expression&)>& visit) {
  // ForEachChild takes a mutable tree; `visit` only reads it.
  auto& mutable_expression = const_cast<Expression&>(expression);
  visit(expression);
  ForEachChild(mutable_expression, [&](ExpressionPtr& child) { Collect(*child, visit); });
  if (expression.query != nullptr) {
    WalkDeep(*expression.query, [&](ExpressionPtr& e) {
      visit(*e);
      return true;
    });
  }
}

void BlocksOf(QueryBody& body, const std::function<void(SelectBlock&)>& visit) {
  if (auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&body)) {
    visit(**block);
  } else if (auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    BlocksOf((*operation)->left, visit);
    BlocksOf((*operation)->right, visit);
  } else {
    BlocksOf(std::get<QueryPtr>(body)->body, visit);
  }
}

}  // namespace

// Also the variables inside subqueries, local and outer ones alike. A local variable of a subquery
// is no variable of the query around it, so it does no harm where the result is compared with
// these.
std::vector<VariableId> ReferencedVariables(const Expression& expression) {
  std::vector<VariableId> variables;
  Collect(expression, [&](const Expression& e) {
    if (e.kind == ExprKind::kVariable) variables.push_back(e.variable);
  });
  std::ranges::sort(variables);
  const auto [first, last] = std::ranges::unique(variables);
  variables.erase(first, last);
  return variables;
}

bool HasSubquery(const Expression& expression) {
  bool found = false;
  Collect(expression, [&](const Expression& e) { found |= e.kind == ExprKind::kSubquery; });
  return found;
}

bool Condition::UsesOnly(const std::vector<VariableId>& known,
                         const std::vector<VariableId>& others) const {
  return std::ranges::all_of(variables, [&](VariableId variable) {
    return std::ranges::find(others, variable) == others.end() ||
           std::ranges::find(known, variable) != known.end();
  });
}

std::vector<Condition> SplitConditions(const Expression* expression) {
  std::vector<Condition> conditions;
  if (expression == nullptr) return conditions;
  if (expression->kind == ExprKind::kCall && expression->name == "and") {
    for (const ExpressionPtr& operand : expression->args) {
      for (Condition& condition : SplitConditions(operand.get())) {
        conditions.push_back(std::move(condition));
      }
    }
    return conditions;
  }
  conditions.push_back({.expression = expression, .variables = ReferencedVariables(*expression)});
  return conditions;
}

std::vector<const Expression*> SplitAlternatives(const Expression& expression) {
  std::vector<const Expression*> alternatives;
  if (expression.kind != ExprKind::kCall || expression.name != "or") return alternatives;
  for (const ExpressionPtr& operand : expression.args) {
    const std::vector<const Expression*> inner = SplitAlternatives(*operand);
    if (inner.empty()) alternatives.push_back(operand.get());
    alternatives.insert(alternatives.end(), inner.begin(), inner.end());
  }
  return alternatives;
}

void ForEachBlock(ExpressionPtr& expression, const std::function<void(SelectBlock&)>& visit) {
  if (expression == nullptr) return;
  ForEachChild(*expression, [&](ExpressionPtr& child) { ForEachBlock(child, visit); });
  if (expression->query != nullptr) ForEachBlock(*expression->query, visit);
}

void ForEachBlock(Query& query, const std::function<void(SelectBlock&)>& visit) {
  BlocksOf(query.body, visit);
  ForEachRoot(query, [&](ExpressionPtr& root) { ForEachBlock(root, visit); });
}

}  // namespace sluice::query
