#include "query/parse/ast.h"

namespace sluice::query {
namespace {

// Calls `visit` with every slot that may hold a direct sub-expression. E is Expression or const.
template <typename E, typename Visit>
void ForEachSlot(E& expression, const Visit& visit) {
  for (auto& argument : expression.args) visit(argument);
  if (auto* comprehension = expression.comprehension.get()) {
    for (auto& binding : comprehension->bindings) visit(binding.source);
    visit(comprehension->name);
    visit(comprehension->body);
    visit(comprehension->when);
  }
  visit(expression.filter);
  auto* window = expression.window.get();
  if (window == nullptr) return;
  for (auto& partition : window->partition_by) visit(partition);
  for (auto& term : window->order_by) {
    visit(term.expression);
    visit(term.direction);
  }
  if (window->frame) {
    visit(window->frame->start_offset);
    visit(window->frame->end_offset);
  }
}

}  // namespace

void ForEachChild(Expression& expression, const std::function<void(ExpressionPtr&)>& visit) {
  ForEachSlot(expression, [&](ExpressionPtr& child) {
    if (child) visit(child);
  });
}

void ForEachChild(const Expression& expression,
                  const std::function<void(const Expression&)>& visit) {
  ForEachSlot(expression, [&](const ExpressionPtr& child) {
    if (child) visit(*child);
  });
}

}  // namespace sluice::query
