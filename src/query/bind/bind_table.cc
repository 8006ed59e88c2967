// The names of tables and columns in a statement.
//
// A column is a path of its row, read in the column's type; a row as a whole is an object of its
// columns. An unqualified name is a column if exactly one table of FROM has it.
#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "query/bind/binder.h"
#include "query/bind/column.h"
#include "query/bind/result_names.h"
#include "query/bind/scope.h"
#include "query/error.h"
#include "query/functions/table.h"
#include "query/parse/parser.h"

namespace sluice::query {
namespace {

ExpressionPtr MakeLiteralExpression(json::Value value, const TextPlace& place) {
  auto literal = std::make_unique<Expression>();
  literal->kind = ExprKind::kLiteral;
  literal->place = place;
  literal->value = std::move(value);
  return literal;
}

std::vector<std::string> ColumnNamesOf(const db::TableSchema& schema) {
  std::vector<std::string> names;
  for (const db::TableColumn& column : schema.columns) names.push_back(column.name);
  return names;
}

Status NoColumn(const db::TableSchema& schema, std::string_view name, const TextPlace& place) {
  return AtPlace(QueryError(QueryCode::kNoSuchField, "table '{}' has no column '{}'{}", schema.name,
                            name, DidYouMean(name, ColumnNamesOf(schema))),
                 place);
}

bool IsDefault(const Expression& expression) {
  return expression.kind == ExprKind::kName && !expression.quoted &&
         db::SameColumnName(expression.name, "default");
}

}  // namespace

const db::TableSchema* Binder::TableOf(VariableId variable) const {
  return variables_[variable].table.get();
}

ExpressionPtr Binder::MakeColumn(VariableId row, const db::TableColumn& column,
                                 const TextPlace& place) const {
  return query::MakeColumn(variables_, row, column, place);
}

ExpressionPtr Binder::MakeRow(VariableId row, const TextPlace& place) const {
  auto object = std::make_unique<Expression>();
  object->kind = ExprKind::kObject;
  object->place = place;
  for (const db::TableColumn& column : TableOf(row)->columns) {
    object->args.push_back(MakeLiteralExpression(column.name, place));
    object->args.push_back(MakeColumn(row, column, place));
  }
  return object;
}

// `t.c`, where t is a table: `base` is its variable.
Status Binder::BindColumnOf(ExpressionPtr& expression, VariableId row) {
  if (TableOf(row) == nullptr) {
    const auto column = ColumnOf(row, expression->name);
    if (!column) {
      return AtPlace(
          QueryError(QueryCode::kNoSuchField, "'{}' has no column '{}'{}", variables_[row].name,
                     expression->name, DidYouMean(expression->name, variables_[row].columns)),
          expression->place);
    }
    expression = MakeColumnNamed(row, *column, expression->place);
    return OkStatus();
  }
  const db::TableSchema& schema = *TableOf(row);
  const db::TableColumn* column = schema.FindColumn(expression->name);
  if (column == nullptr) return NoColumn(schema, expression->name, expression->place);
  expression = MakeColumn(row, *column, expression->place);
  return OkStatus();
}

// The tables among the sources that have a column of this name.
std::vector<VariableId> Binder::TablesWith(const Scope& from, std::string_view column) const {
  std::vector<VariableId> tables;
  for (const VariableId source : from.sources) {
    if (ColumnOf(source, column)) tables.push_back(source);
  }
  return tables;
}

// Texts and parameters that a datetime column is compared with are read as the column would.
void Binder::ConvertCompared(Expression& call) {
  static constexpr std::string_view kComparisons[] = {"eq", "lt", "le", "between", "in"};
  if (std::ranges::find(kComparisons, call.name) == std::end(kComparisons)) return;
  const auto is_column = [](const ExpressionPtr& arg) {
    if (arg->kind != ExprKind::kCall || arg->name != kColumnValueFunction) return false;
    const auto type = static_cast<db::ColumnType>(arg->args[1]->value.AsInt());
    return type == db::ColumnType::kDatetime || type == db::ColumnType::kDatetimeUs;
  };
  const auto column = std::ranges::find_if(call.args, is_column);
  if (column == call.args.end()) return;
  const Expression& type = *(*column)->args[1];
  for (ExpressionPtr& arg : call.args) {
    const bool is_text = arg->kind == ExprKind::kLiteral && arg->value.is_string();
    if (!is_text && arg->kind != ExprKind::kParameter && arg->kind != ExprKind::kArray) continue;
    auto compared = std::make_unique<Expression>();
    compared->kind = ExprKind::kCall;
    compared->name = kComparedValueFunction;
    compared->place = arg->place;
    compared->args.push_back(std::move(arg));
    compared->args.push_back(Clone(type));
    arg = std::move(compared);
  }
}

// CURRENT_TIMESTAMP is no reserved word of SQL++: it means now() only where nothing has that name.
Status Binder::BindNow(ExpressionPtr& expression) {
  const TextPlace place = expression->place;
  ASSIGN_OR_RETURN(expression, ParseExpression("now()"));
  expression->place = place;
  return BindConstant(expression);
}

// A name that is no variable: a column of the innermost FROM that has it, or a field of its only
// term that is no table.
Status Binder::BindField(ExpressionPtr& expression, const Scope& scope) {
  const Expression& name = *expression;
  const db::TableSchema* last = nullptr;
  for (const Scope* from = scope.WithFrom(); from != nullptr;
       from = from->outer == nullptr ? nullptr : from->outer->WithFrom()) {
    const std::vector<VariableId> tables = TablesWith(*from, name.name);
    if (tables.size() == 1) return BindColumnOf(expression, tables[0]);
    std::vector<VariableId> others;
    for (const VariableId source : from->sources) {
      if (from->main_source != 0 && source != from->main_source) continue;
      if (!HasColumns(source)) others.push_back(source);
      if (TableOf(source) != nullptr) last = TableOf(source);
    }
    if (tables.size() > 1 || others.size() > 1) {
      const VariableId first = tables.empty() ? others[0] : tables[0];
      return AtPlace(QueryError(QueryCode::kAmbiguousReference,
                                "Ambiguous reference to field '{}': say whose it is, as in {}.{}",
                                name.name, variables_[first].name, name.name),
                     name.place);
    }
    if (others.size() == 1) {
      auto field = std::make_unique<Expression>();
      field->kind = ExprKind::kField;
      field->place = name.place;
      field->name = name.name;
      field->ignore_case = name.ignore_case;
      field->args.push_back(MakeVariable(variables_, others[0], name.place));
      expression = std::move(field);
      return OkStatus();
    }
  }
  if (name.or_text) {
    expression = MakeLiteralExpression(name.name, name.place);
    expression->or_text = true;
    return OkStatus();
  }
  if (db::SameColumnName(name.name, "current_timestamp")) return BindNow(expression);
  if (last != nullptr) return NoColumn(*last, name.name, name.place);
  return AtPlace(QueryError(QueryCode::kNoSuchField,
                            "nothing is named '{}' here: there is no FROM clause that it could "
                            "be a field of",
                            name.name),
                 name.place);
}

// A default is evaluated for each row that is given none.
Result<ExpressionPtr> Binder::DefaultOf(const db::TableColumn& column, const TextPlace& place) {
  if (column.default_text.empty()) return MakeLiteralExpression(nullptr, place);
  ASSIGN_OR_RETURN(ExpressionPtr expression, ParseExpression(column.default_text));
  RETURN_IF_ERROR(BindConstant(expression));
  return expression;
}

// The columns of the values, in their order.
Result<std::vector<size_t>> Binder::InsertedColumns(const InsertStatement& statement,
                                                    const db::TableSchema& schema) const {
  std::vector<size_t> columns;
  for (const ColumnName& written : statement.columns) {
    const auto column = schema.ColumnIndex(written.name);
    if (!column) return Unexpected(NoColumn(schema, written.name, written.place));
    if (std::ranges::find(columns, *column) != columns.end()) {
      return Unexpected(
          AtPlace(QueryError(QueryCode::kPlan, "INSERT names the column '{}' twice", written.name),
                  written.place));
    }
    columns.push_back(*column);
  }
  for (size_t i = 0; statement.columns.empty() && i < schema.columns.size(); ++i) {
    columns.push_back(i);
  }
  return columns;
}

// Replaces the values by an array with one for each column of the table.
Status Binder::CompleteRow(const db::TableSchema& schema, const std::vector<size_t>& columns,
                           std::vector<ExpressionPtr> values, const TextPlace& place,
                           ExpressionPtr* row) {
  if (values.size() != columns.size()) {
    return AtPlace(QueryError(QueryCode::kPlan, "table '{}': {} columns but {} values", schema.name,
                              columns.size(), values.size()),
                   place);
  }
  auto array = std::make_unique<Expression>();
  array->kind = ExprKind::kArray;
  array->place = place;
  array->args.resize(schema.columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!IsDefault(*values[i])) array->args[columns[i]] = std::move(values[i]);
  }
  for (size_t i = 0; i < array->args.size(); ++i) {
    if (array->args[i] != nullptr) continue;
    ASSIGN_OR_RETURN(array->args[i], DefaultOf(schema.columns[i], place));
  }
  *row = std::move(array);
  return OkStatus();
}

Status Binder::BindTableInsert(InsertStatement& statement) {
  const db::TableSchema& schema = *TableOf(statement.target.variable);
  if (statement.upsert || statement.select_key != nullptr) {
    return AtPlace(QueryError(QueryCode::kPlan,
                              "'{}' is a table: use INSERT INTO {} (columns) VALUES or SELECT",
                              schema.name, schema.name),
                   statement.target.place);
  }
  ASSIGN_OR_RETURN(const std::vector<size_t> columns, InsertedColumns(statement, schema));
  for (InsertValues& row : statement.rows) {
    std::vector<ExpressionPtr> values = std::move(row.columns);
    for (ExpressionPtr* each : {&row.key, &row.value, &row.options}) {
      if (*each != nullptr) values.push_back(std::move(*each));
    }
    Scope scope(nullptr);
    for (ExpressionPtr& value : values) {
      if (!IsDefault(*value)) RETURN_IF_ERROR(BindExpression(value, scope));
    }
    RETURN_IF_ERROR(CompleteRow(schema, columns, std::move(values), row.place, &row.value));
  }
  if (statement.select == nullptr) return OkStatus();
  return BindTableSelect(statement, schema, columns);
}

// The columns of the SELECT by their order.
Status Binder::BindTableSelect(InsertStatement& statement, const db::TableSchema& schema,
                               const std::vector<size_t>& columns) {
  std::vector<std::string> by_order;
  NameByOrder(statement.select->body, &by_order);
  RETURN_IF_ERROR(BindQuery(*statement.select, nullptr));
  if (statement.select->result_variable == 0) {
    statement.select->result_variable = variables_.Add("");
  }
  const TextPlace& place = statement.select->place;
  const auto names = ResultNames(statement.select->body);
  if (!names) {
    return AtPlace(QueryError(QueryCode::kPlan,
                              "INSERT INTO a table needs a SELECT that names its columns: not RAW, "
                              "and not the * of documents"),
                   place);
  }
  std::vector<ExpressionPtr> values;
  for (const std::string& name : *names) {
    auto field = std::make_unique<Expression>();
    field->kind = ExprKind::kField;
    field->place = place;
    field->name = name;
    field->args.push_back(MakeVariable(variables_, statement.select->result_variable, place));
    values.push_back(std::move(field));
  }
  return CompleteRow(schema, columns, std::move(values), place, &statement.select_value);
}

// ON CONFLICT: names are columns of the existing row, and `excluded` is the row of the INSERT.
Status Binder::BindConflict(InsertStatement& statement, const Scope& target) {
  ConflictClause& clause = *statement.conflict;
  const db::TableSchema& schema = *TableOf(statement.target.variable);
  for (const ColumnName& column : clause.columns) {
    if (schema.FindColumn(column.name) == nullptr) {
      return NoColumn(schema, column.name, column.place);
    }
  }
  if (clause.action != ConflictClause::Action::kUpdate) return OkStatus();
  Scope scope = target;
  clause.excluded.place = clause.place;
  clause.excluded.alias = "excluded";
  clause.excluded.keyspace = *statement.target.keyspace;
  RETURN_IF_ERROR(DeclareTerm(clause.excluded, scope));
  scope.names.push_back({"EXCLUDED", clause.excluded.variable});
  scope.sources = target.sources;
  RETURN_IF_ERROR(BindAssignments(clause.set, scope));
  RETURN_IF_ERROR(CheckTableUpdate(statement.target.variable, clause.set, {}));
  return BindOptional(clause.where, scope);
}

// SET c = e, where c is a column.
Status Binder::CheckTableUpdate(VariableId row, const std::vector<Assignment>& set,
                                const std::vector<Assignment>& unset) const {
  const db::TableSchema& schema = *TableOf(row);
  if (!unset.empty()) {
    return AtPlace(
        QueryError(QueryCode::kPlan, "a column of a table can't be UNSET: set it to NULL"),
        unset[0].place);
  }
  for (const Assignment& assignment : set) {
    const Expression& target = *assignment.target;
    const bool column = target.kind == ExprKind::kField && assignment.loops.empty() &&
                        target.args[0]->kind == ExprKind::kVariable &&
                        target.args[0]->variable == row;
    if (column) continue;
    return AtPlace(
        QueryError(QueryCode::kPlan, "SET takes a column of the table '{}'", schema.name),
        assignment.place);
  }
  return OkStatus();
}

}  // namespace sluice::query
