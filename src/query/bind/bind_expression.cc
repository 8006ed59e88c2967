// Names inside expressions.
//
// A name is, in this order: a result term (in ORDER BY), a variable in scope, innermost first, or a
// field of the only FROM term of the innermost block that has a FROM clause.
#include <algorithm>
#include <utility>

#include "query/bind/binder.h"
#include "query/bind/comdb2.h"
#include "query/bind/scope.h"
#include "query/error.h"

namespace sluice::query {

Status Binder::BindOptional(ExpressionPtr& expression, Scope& scope) {
  return expression == nullptr ? OkStatus() : BindExpression(expression, scope);
}

Status Binder::BindExpression(ExpressionPtr& expression, Scope& scope) {
  switch (expression->kind) {
    case ExprKind::kName:
      return BindName(expression, scope);
    case ExprKind::kSubquery:
      if (comdb2()) return BindScalarSubquery(expression, scope);
      return BindQuery(*expression->query, &scope);
    case ExprKind::kField:
      return BindPath(expression, scope);
    case ExprKind::kCall:
      if (expression->name == "meta") return BindMeta(*expression, scope);
      if (expression->name == "self" && expression->args.empty()) {
        const Scope* from = scope.WithFrom();
        if (from == nullptr || from->sources.size() != 1) {
          return AtPlace(QueryError(QueryCode::kAmbiguousReference, "SELF needs one FROM term"),
                         expression->place);
        }
        const VariableId self = from->sources[0];
        expression = TableOf(self) != nullptr ? MakeRow(self, expression->place)
                                              : MakeVariable(variables_, self, expression->place);
        return OkStatus();
      }
      if (expression->name == "unnest_position" || expression->name == "unnest_pos") {
        return BindUnnestPosition(expression, scope);
      }
      FindUserFunction(*expression);
      break;
    default:
      break;
  }
  if (expression->comprehension != nullptr) return BindComprehension(*expression, scope);
  if (comdb2() && expression->kind == ExprKind::kCall) UseComdb2Functions(expression);
  Status status;
  ForEachChild(*expression, [&](ExpressionPtr& child) {
    if (status.ok()) status = BindArgument(*expression, child, scope);
  });
  if (!status.ok() || expression->kind != ExprKind::kCall) return status;
  ConvertCompared(*expression);
  const Scope* const from = scope.WithFrom();
  const bool of_table = from != nullptr && std::ranges::any_of(from->sources, [&](VariableId id) {
                          return TableOf(id) != nullptr;
                        });
  if (of_table || comdb2()) UseComdb2Rules(variables_, *expression);
  return OkStatus();
}

// One of users has never the name of one that is built in.
void Binder::FindUserFunction(Expression& call) {
  if (functions_ == nullptr || functions_->functions.empty()) return;
  call.user_function = functions_->Find(call.name);
  uses_functions_ = uses_functions_ || call.user_function != nullptr;
}

Status Binder::BindName(ExpressionPtr& expression, Scope& scope) {
  const Expression& name = *expression;
  if (scope.results != nullptr) {
    for (const ResultTerm& term : scope.results->terms) {
      const bool same =
          comdb2() ? db::SameColumnName(term.alias, name.name) : term.alias == name.name;
      if (term.star || !same) continue;
      expression = Clone(*term.expression);
      return OkStatus();
    }
  }
  if (const VariableId variable = scope.Find(name.name, name.ignore_case || comdb2());
      variable != 0 && !(comdb2() && HasColumns(variable) && IsColumn(scope, name.name))) {
    if (comdb2() && HasColumns(variable) && name.or_text) return BindField(expression, scope);
    if (TableOf(variable) == nullptr) {
      expression = MakeVariable(variables_, variable, name.place);
      return OkStatus();
    }
    // A column that is named as its table wins.
    const std::vector<VariableId> tables = TablesWith(*scope.WithFrom(), name.name);
    if (tables.size() == 1) return BindColumnOf(expression, tables[0]);
    expression = MakeRow(variable, name.place);
    return OkStatus();
  }
  return BindField(expression, scope);
}

// A step below something: of a table it must be a column.
Status Binder::BindPath(ExpressionPtr& expression, Scope& scope) {
  ExpressionPtr& base = expression->args[0];
  if (base->kind == ExprKind::kName) {
    const VariableId variable = scope.Find(base->name, base->ignore_case || comdb2());
    if (variable != 0 && HasColumns(variable)) return BindColumnOf(expression, variable);
  }
  return BindExpression(base, scope);
}

Status Binder::BindMeta(Expression& expression, Scope& scope) {
  if (expression.args.empty()) {
    const Scope* from = scope.WithFrom();
    const VariableId main = from != nullptr ? from->main_source : 0;
    if (from == nullptr || (main == 0 && from->sources.size() != 1)) {
      return AtPlace(QueryError(QueryCode::kMetaNeedsArgument,
                                "META() needs the alias of a keyspace here: META(alias)"),
                     expression.place);
    }
    const VariableId source = main != 0 ? main : from->sources[0];
    expression.args.push_back(MakeVariable(variables_, source, expression.place));
    return OkStatus();
  }
  ExpressionPtr& of = expression.args[0];
  if (of->kind == ExprKind::kName) {
    const VariableId variable = scope.Find(of->name, of->ignore_case);
    if (variable != 0 && TableOf(variable) != nullptr) {
      of = MakeVariable(variables_, variable, of->place);
      return OkStatus();
    }
    if (variable == 0) {
      return AtPlace(
          QueryError(QueryCode::kMetaNeedsArgument,
                     "META() takes the alias of a keyspace, and '{}' is none here", of->name),
          of->place);
    }
  }
  return BindExpression(of, scope);
}

Status Binder::BindUnnestPosition(ExpressionPtr& expression, Scope& scope) {
  VariableId position = 0;
  if (expression->args.size() == 1) {
    RETURN_IF_ERROR(BindExpression(expression->args[0], scope));
    const Expression& of = *expression->args[0];
    if (of.kind == ExprKind::kVariable) {
      position = variables_[of.variable].position;
      variables_.all[of.variable].position_used = true;
    }
  }
  if (position == 0) {
    return AtPlace(QueryError(QueryCode::kPlan, "UNNEST_POSITION takes the name of an UNNEST"),
                   expression->place);
  }
  expression = MakeVariable(variables_, position, expression->place);
  return OkStatus();
}

Status Binder::BindRanges(std::vector<RangeBinding>& bindings, Scope& scope) {
  // The sources don't see the new names.
  Scope outer(scope);
  for (RangeBinding& binding : bindings) {
    RETURN_IF_ERROR(BindSource(binding.source, outer));
    if (!binding.name.empty()) {
      binding.name_id = variables_.Add(binding.name);
      scope.names.push_back({binding.name, binding.name_id});
    }
    binding.value_id = variables_.Add(binding.value);
    scope.names.push_back({binding.value, binding.value_id});
  }
  return OkStatus();
}

Status Binder::BindComprehension(Expression& expression, Scope& scope) {
  Comprehension& parts = *expression.comprehension;
  Scope inner(&scope);
  RETURN_IF_ERROR(BindRanges(parts.bindings, inner));
  RETURN_IF_ERROR(BindOptional(parts.name, inner));
  RETURN_IF_ERROR(BindOptional(parts.body, inner));
  return BindOptional(parts.when, inner);
}

Status Binder::BindOverDocument(ExpressionPtr& expression, VariableId document) {
  Scope scope(nullptr);
  scope.has_from = true;
  scope.sources = {document};
  if (!variables_[document].name.empty()) {
    scope.names.push_back({variables_[document].name, document});
  }
  return BindExpression(expression, scope);
}

Status Binder::BindConstant(ExpressionPtr& expression) {
  Scope scope(nullptr);
  return BindExpression(expression, scope);
}

}  // namespace sluice::query
