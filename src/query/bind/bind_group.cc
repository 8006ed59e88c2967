// The clauses after a grouping see only group keys and aggregates. Each aggregate call becomes a
// variable that the group operator fills; so does each window call, in a later step.
#include <algorithm>
#include <functional>
#include <utility>

#include "query/bind/binder.h"
#include "query/bind/scope.h"
#include "query/bind/walk.h"
#include "query/error.h"
#include "query/functions/aggregate.h"

namespace sluice::query {
namespace {

bool IsAggregate(const Expression& e) {
  if (e.kind != ExprKind::kCall || e.window != nullptr) return false;
  return e.user_function != nullptr ? e.user_function->aggregate : FindAggregate(e.name) != nullptr;
}

// Over an expression but not into its subqueries, whose aggregates and windows are their own.
void WalkOwn(ExpressionPtr& expression, const std::function<bool(ExpressionPtr&)>& visit) {
  if (expression == nullptr || !visit(expression)) return;
  ForEachChild(*expression, [&](ExpressionPtr& child) { WalkOwn(child, visit); });
}

bool HasAggregate(ExpressionPtr& root) {
  bool found = false;
  WalkOwn(root, [&](ExpressionPtr& e) {
    found = found || IsAggregate(*e);
    return !found;
  });
  return found;
}

// The parts of a block that see groups, not rows.
void ForEachGroupedRoot(SelectBlock& block, std::vector<SortTerm>* order_by,
                        const RootVisitor& visit) {
  if (block.group) {
    for (NamedExpression& letting : block.group->letting) visit(letting.expression);
    if (block.group->having != nullptr) visit(block.group->having);
  }
  for (NamedWindow& window : block.windows) {
    for (ExpressionPtr& key : window.spec.partition_by) visit(key);
    for (SortTerm& term : window.spec.order_by) visit(term.expression);
  }
  for (ResultTerm& term : block.projection.terms) visit(term.expression);
  if (order_by != nullptr) {
    for (SortTerm& term : *order_by) visit(term.expression);
  }
}

}  // namespace

class Binder::GroupRewriter {
 public:
  GroupRewriter(SelectBlock& block, Variables& variables, VariableId first, VariableId past)
      : block_(block), variables_(variables), first_(first), past_(past) {}

  Status Rewrite(ExpressionPtr& root) {
    status_ = OkStatus();
    Walk(root, false);
    return status_;
  }

 private:
  void Walk(ExpressionPtr& e, bool in_subquery) {
    if (e == nullptr || !status_.ok() || !Step(e, in_subquery)) return;
    ForEachChild(*e, [&](ExpressionPtr& child) { Walk(child, in_subquery); });
    if (e->query == nullptr) return;
    ForEachRoot(*e->query, [&](ExpressionPtr& root) { Walk(root, true); });
  }

  // Whether to walk below `e`.
  bool Step(ExpressionPtr& e, bool in_subquery) {
    for (const NamedExpression& key : block_.group->keys) {
      if (!SameExpression(*e, *key.expression)) continue;
      e = MakeVariable(variables_, key.variable, e->place);
      return false;
    }
    if (!in_subquery && IsAggregate(*e)) {
      status_ = CheckNotNested(*e);
      if (!status_.ok()) return false;
      const TextPlace place = e->place;
      const VariableId variable = AggregateVariable(e);
      e = MakeVariable(variables_, variable, place);
      return false;
    }
    if (e->kind == ExprKind::kVariable && e->variable >= first_ && e->variable < past_) {
      status_ =
          AtPlace(QueryError(QueryCode::kNotGrouped,
                             "'{}' must be a group key or inside an aggregate: add it to GROUP BY",
                             variables_[e->variable].name),
                  e->place);
      return false;
    }
    return true;
  }

  Status CheckNotNested(Expression& call) {
    Status status;
    ForEachChild(call, [&](ExpressionPtr& child) {
      if (HasAggregate(child)) {
        status = AtPlace(QueryError(QueryCode::kPlan, "an aggregate can't be inside another"),
                         child->place);
      }
    });
    return status;
  }

  VariableId AggregateVariable(ExpressionPtr& call) {
    for (const NamedExpression& known : block_.aggregates) {
      if (SameExpression(*known.expression, *call)) return known.variable;
    }
    NamedExpression aggregate;
    aggregate.place = call->place;
    aggregate.variable = variables_.Add(ToText(*call));
    aggregate.expression = std::move(call);
    block_.aggregates.push_back(std::move(aggregate));
    return block_.aggregates.back().variable;
  }

  SelectBlock& block_;
  Variables& variables_;
  const VariableId first_;  // variables of rows, before the grouping
  const VariableId past_;
  Status status_;
};

Status Binder::BindGroup(GroupClause& group, Scope& scope) {
  for (NamedExpression& key : group.keys) {
    RETURN_IF_ERROR(BindExpression(key.expression, scope));
  }
  for (NamedExpression& key : group.keys) {
    key.variable = variables_.Add(key.name.empty() ? ToText(*key.expression) : key.name);
    if (!key.name.empty()) scope.names.push_back({key.name, key.variable});
  }
  if (!group.group_as.empty()) {
    group.group_as_variable = variables_.Add(group.group_as);
    scope.names.push_back({group.group_as, group.group_as_variable});
  }
  RETURN_IF_ERROR(BindLet(group.letting, scope));
  return BindOptional(group.having, scope);
}

Status Binder::RewriteGroups(SelectBlock& block, std::vector<SortTerm>* order_by, VariableId first,
                             VariableId past) {
  bool grouped = block.group.has_value();
  ForEachGroupedRoot(block, order_by,
                     [&](ExpressionPtr& root) { grouped = grouped || HasAggregate(root); });
  if (block.where != nullptr && HasAggregate(block.where)) {
    return AtPlace(QueryError(QueryCode::kPlan, "WHERE can't have an aggregate: use HAVING"),
                   block.where->place);
  }
  if (!grouped) return OkStatus();
  if (!block.group) block.group.emplace();
  GroupRewriter rewriter(block, variables_, first, past);
  Status status;
  ForEachGroupedRoot(block, order_by, [&](ExpressionPtr& root) {
    if (status.ok()) status = rewriter.Rewrite(root);
  });
  return status;
}

Status Binder::ResolveWindow(const SelectBlock& block, Expression& call) {
  WindowSpec& spec = *call.window;
  // A window extends one that was named before it, so this ends.
  auto end = block.windows.end();
  while (!spec.base.empty()) {
    const auto base = std::ranges::find(block.windows.begin(), end, spec.base, &NamedWindow::name);
    if (base == end) {
      return AtPlace(QueryError(QueryCode::kPlan, "there is no WINDOW named '{}'", spec.base),
                     call.place);
    }
    WindowSpec named = Clone(base->spec);
    spec.base = std::move(named.base);
    if (spec.partition_by.empty()) spec.partition_by = std::move(named.partition_by);
    if (spec.order_by.empty()) spec.order_by = std::move(named.order_by);
    if (!spec.frame) spec.frame = std::move(named.frame);
    end = base;
  }
  return OkStatus();
}

Status Binder::BindWindows(SelectBlock& block, std::vector<SortTerm>* order_by) {
  Status status;
  const auto replace = [&](ExpressionPtr& root) {
    WalkOwn(root, [&](ExpressionPtr& e) {
      if (!status.ok() || e->window == nullptr) return status.ok();
      status = ResolveWindow(block, *e);
      NamedExpression call;
      call.place = e->place;
      call.variable = variables_.Add(ToText(*e));
      call.expression = std::move(e);
      e = MakeVariable(variables_, call.variable, call.place);
      block.window_calls.push_back(std::move(call));
      return false;
    });
  };
  for (ResultTerm& term : block.projection.terms) replace(term.expression);
  if (order_by != nullptr) {
    for (SortTerm& term : *order_by) replace(term.expression);
  }
  return status;
}

}  // namespace sluice::query
