#include "query/bind/column.h"

#include <utility>

#include "query/bind/scope.h"
#include "query/bind/walk.h"
#include "query/error.h"
#include "query/functions/aggregate.h"
#include "query/functions/table.h"
#include "query/parse/parser.h"

namespace sluice::query {
namespace {

ExpressionPtr MakeConstant(json::Value value, const TextPlace& place) {
  auto literal = std::make_unique<Expression>();
  literal->kind = ExprKind::kLiteral;
  literal->place = place;
  literal->value = std::move(value);
  return literal;
}

// Whether it can be computed from a row of a table alone.
bool IsOfOneRow(const Expression& e) {
  if (e.kind == ExprKind::kSubquery || e.kind == ExprKind::kParameter ||
      e.kind == ExprKind::kStar || e.comprehension != nullptr || e.window != nullptr) {
    return false;
  }
  if (e.kind != ExprKind::kCall) return true;
  return e.name != "meta" && e.name != "self" && FindAggregate(e.name) == nullptr;
}

}  // namespace

ExpressionPtr MakeColumn(const Variables& variables, VariableId row, const db::TableColumn& column,
                         const TextPlace& place) {
  auto field = std::make_unique<Expression>();
  field->kind = ExprKind::kField;
  field->place = place;
  field->name = column.name;
  field->args.push_back(MakeVariable(variables, row, place));
  const bool may_lack = variables[row].may_lack;
  if (db::IsStoredAsIs(column.type) && !column.added && !may_lack) return field;
  auto typed = std::make_unique<Expression>();
  typed->kind = ExprKind::kCall;
  typed->place = place;
  typed->name = kColumnValueFunction;
  typed->args.push_back(std::move(field));
  typed->args.push_back(MakeConstant(static_cast<int>(column.type), place));
  if (column.added && !may_lack) typed->args.push_back(MakeConstant(*column.added, place));
  return typed;
}

Result<ExpressionPtr> BindCheck(const Variables& variables, VariableId row,
                                std::string_view condition) {
  ASSIGN_OR_RETURN(ExpressionPtr expression, ParseExpression(condition));
  const db::TableSchema& schema = *variables[row].table;
  Status status;
  WalkDeep(expression, [&](ExpressionPtr& e) {
    if (!IsOfOneRow(*e)) {
      status =
          QueryError(QueryCode::kTableDefinition,
                     "a CHECK of table '{}' is made of its columns: no subqueries, parameters, "
                     "aggregates and META()",
                     schema.name);
      return false;
    }
    const bool of_table = e->kind == ExprKind::kField && e->args[0]->kind == ExprKind::kName &&
                          db::SameColumnName(e->args[0]->name, schema.name);
    if (e->kind != ExprKind::kName && !of_table) return true;
    const db::TableColumn* column = schema.FindColumn(e->name);
    if (column == nullptr) {
      status = QueryError(QueryCode::kTableDefinition, "CHECK: table '{}' has no column '{}'",
                          schema.name, e->name);
      return false;
    }
    e = MakeColumn(variables, row, *column, e->place);
    return false;
  });
  if (!status.ok()) return Unexpected(status);
  return expression;
}

}  // namespace sluice::query
