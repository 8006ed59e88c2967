#include "query/bind/comdb2.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "json/number.h"
#include "query/functions/comdb2.h"
#include "query/functions/table.h"

namespace sluice::query {
namespace {

constexpr std::string_view kComparisons[] = {"eq", "lt", "le", "between", "in"};

// The column that the field of a row is, which may stand inside the call that types it; or null.
const db::TableColumn* ColumnOf(const Variables& variables, const Expression& expression) {
  if (expression.kind == ExprKind::kCall && expression.name == kColumnValueFunction) {
    return ColumnOf(variables, *expression.args[0]);
  }
  if (expression.kind != ExprKind::kField || expression.args[0]->kind != ExprKind::kVariable) {
    return nullptr;
  }
  const auto& table = variables[expression.args[0]->variable].table;
  return table == nullptr ? nullptr : table->FindColumn(expression.name);
}

bool IsNumber(const db::TableColumn* column) {
  return column != nullptr && column->type <= db::ColumnType::kDouble;
}

bool IsReal(const db::TableColumn* column) {
  return IsNumber(column) && column->type >= db::ColumnType::kFloat;
}

// A real that is a whole number is stored as one: as text it has a fraction all the same.
void KeepReal(ExpressionPtr& column) {
  auto cast = std::make_unique<Expression>();
  cast->kind = ExprKind::kCall;
  cast->place = column->place;
  cast->name = "cast";
  cast->args.push_back(std::move(column));
  auto type = std::make_unique<Expression>();
  type->kind = ExprKind::kLiteral;
  type->place = cast->place;
  type->value = json::Value("double");
  cast->args.push_back(std::move(type));
  column = std::move(cast);
}

void ReadNumber(Expression& literal) {
  if (literal.kind == ExprKind::kArray) {
    for (const ExpressionPtr& item : literal.args) ReadNumber(*item);
  }
  if (literal.kind != ExprKind::kLiteral || !literal.value.is_string()) return;
  const std::string_view text = literal.value.AsString();
  if (text.empty() || json::NumberLength(text) != text.size()) return;
  literal.value = json::NumberFromLiteral(text);
}

}  // namespace

void UseComdb2Rules(const Variables& variables, Expression& call) {
  if (call.name == "concat") {
    call.name = kComdb2Concat;
    for (ExpressionPtr& arg : call.args) {
      if (IsReal(ColumnOf(variables, *arg))) KeepReal(arg);
    }
    return;
  }
  if (std::ranges::find(kComparisons, call.name) == std::end(kComparisons)) return;
  const bool number = std::ranges::any_of(
      call.args, [&](const ExpressionPtr& arg) { return IsNumber(ColumnOf(variables, *arg)); });
  if (!number) return;
  for (const ExpressionPtr& arg : call.args) ReadNumber(*arg);
}

}  // namespace sluice::query
