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

// A function with another name in Comdb2's dialect, for this number of arguments.
struct Renamed {
  std::string_view name;
  size_t least;
  size_t most;
  std::string_view function;
};
constexpr Renamed kRenamed[] = {
    {"substr", 2, 3, kComdb2Substr},     {"substring", 2, 3, kComdb2Substr},
    {"round", 1, 2, kComdb2Round},       {"divide", 2, 2, kComdb2Divide},
    {"mod", 2, 2, kComdb2Mod},           {"max", 2, 127, kComdb2Max},
    {"min", 2, 127, kComdb2Min},         {"power", 2, 2, kComdb2Power},
    {"pow", 2, 2, kComdb2Power},         {"length", 1, 1, kComdb2Length},
    {"random", 0, 0, kComdb2Random},     {"like", 2, 3, kComdb2Like},
    {"compress", 1, 1, kComdb2Compress}, {"uncompress", 1, 1, kComdb2Uncompress}};

ExpressionPtr MoveInto(std::string_view name, ExpressionPtr& call) {
  ExpressionPtr inner = std::move(call);
  inner->name = name;
  return inner;
}

}  // namespace

ExpressionPtr WrapInCall(std::string_view function, ExpressionPtr expression) {
  auto call = std::make_unique<Expression>();
  call->kind = ExprKind::kCall;
  call->place = expression->place;
  call->name = function;
  call->args.push_back(std::move(expression));
  return call;
}

// An average is a real; a list of texts is made of the array of them.
void UseComdb2Functions(ExpressionPtr& call) {
  if (call->name == "avg") {
    call->name = "mean";
    KeepReal(call);
    return;
  }
  if (call->name == "total") {
    call = WrapInCall(kComdb2Total, MoveInto("sum", call));
    return;
  }
  if (call->name == "group_concat" && (call->args.size() == 1 || call->args.size() == 2)) {
    ExpressionPtr separator;
    if (call->args.size() == 2) separator = std::move(call->args[1]);
    call->args.resize(1);
    call = WrapInCall(kComdb2Join, MoveInto("array_agg", call));
    if (separator != nullptr) call->args.push_back(std::move(separator));
    return;
  }
  for (const Renamed& renamed : kRenamed) {
    const size_t count = call->args.size();
    if (call->name != renamed.name || count < renamed.least || count > renamed.most) continue;
    call->name = renamed.function;
    return;
  }
}

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
