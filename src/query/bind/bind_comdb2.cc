// Comdb2's dialect: SQLite's rules for names and subqueries. A query in an expression is its first
// value, names are columns of FROM, and a name or number can refer to a result term.
#include <algorithm>
#include <utility>

#include "query/bind/binder.h"
#include "query/bind/comdb2.h"
#include "query/bind/result_names.h"
#include "query/bind/scope.h"
#include "query/bind/walk.h"
#include "query/error.h"
#include "query/functions/comdb2.h"
#include "query/functions/table.h"
#include "query/system_tables.h"

namespace sluice::query {
namespace {

constexpr std::string_view kSources[] = {"generate_series", "carray"};

ExpressionPtr MakeInteger(int64_t value, const TextPlace& place) {
  auto literal = std::make_unique<Expression>();
  literal->kind = ExprKind::kLiteral;
  literal->place = place;
  literal->value = json::Value(value);
  return literal;
}

// One column: its rows are then the values themselves.
bool SelectValues(Query& query) {
  auto* const block = std::get_if<std::unique_ptr<SelectBlock>>(&query.body);
  if (block == nullptr) return false;
  Projection& projection = (*block)->projection;
  if (projection.terms.size() != 1 || projection.terms[0].star) return projection.raw;
  projection.raw = true;
  return true;
}

const Expression* PlainColumn(const Expression& bound) {
  const Expression* column = &bound;
  while (column->kind == ExprKind::kCall &&
         (column->name == kColumnValueFunction || column->name == "ifmissing")) {
    column = column->args[0].get();
  }
  const bool plain =
      column->kind == ExprKind::kField && column->args[0]->kind == ExprKind::kVariable;
  return plain ? column : nullptr;
}

}  // namespace

Status Binder::BindSource(ExpressionPtr& expression, Scope& scope) {
  if (expression->kind == ExprKind::kSubquery) return BindQuery(*expression->query, &scope);
  return BindExpression(expression, scope);
}

// The first column of the first row, or NULL.
Status Binder::BindScalarSubquery(ExpressionPtr& expression, Scope& scope) {
  Query& query = *expression->query;
  SelectValues(query);
  if (query.limit == nullptr) query.limit = MakeInteger(1, expression->place);
  RETURN_IF_ERROR(BindQuery(query, &scope));
  expression = WrapInCall(kComdb2Scalar, std::move(expression));
  return OkStatus();
}

// EXISTS and IN take all rows of a query.
Status Binder::BindArgument(const Expression& call, ExpressionPtr& argument, Scope& scope) {
  const bool of_rows = comdb2() && call.kind == ExprKind::kCall &&
                       argument->kind == ExprKind::kSubquery && &argument == &call.args.back();
  if (of_rows && call.name == "exists") return BindSource(argument, scope);
  if (!of_rows || call.name != "in") return BindExpression(argument, scope);
  const bool values = SelectValues(*argument->query);
  RETURN_IF_ERROR(BindQuery(*argument->query, &scope));
  if (!values) argument = WrapInCall(kComdb2Column, std::move(argument));
  return OkStatus();
}

bool Binder::HasColumns(VariableId variable) const {
  return TableOf(variable) != nullptr || !variables_[variable].columns.empty();
}

// As it is called there.
std::optional<std::string> Binder::ColumnOf(VariableId variable, std::string_view name) const {
  if (const db::TableSchema* table = TableOf(variable)) {
    const db::TableColumn* const column = table->FindColumn(name);
    return column == nullptr ? std::nullopt : std::optional(column->name);
  }
  for (const std::string& column : variables_[variable].columns) {
    if (db::SameColumnName(column, name)) return column;
  }
  return std::nullopt;
}

// NULL for a row that an outer join lacks.
ExpressionPtr Binder::MakeColumnNamed(VariableId variable, const std::string& name,
                                      const TextPlace& place) const {
  if (const db::TableSchema* table = TableOf(variable)) {
    return MakeColumn(variable, *table->FindColumn(name), place);
  }
  auto field = std::make_unique<Expression>();
  field->kind = ExprKind::kField;
  field->place = place;
  field->name = name;
  field->args.push_back(MakeVariable(variables_, variable, place));
  if (!variables_[variable].may_lack) return field;
  ExpressionPtr or_null = WrapInCall("ifmissing", std::move(field));
  auto null = std::make_unique<Expression>();
  null->value = json::Value(nullptr);
  or_null->args.push_back(std::move(null));
  return or_null;
}

// A query or a function in FROM needs no alias.
void Binder::NameTerm(FromTerm& term, const Scope& scope) {
  const bool call = term.expression != nullptr && term.expression->kind == ExprKind::kCall;
  std::string name = call ? term.expression->name : "subquery";
  const std::string stem = name;
  for (int n = 2; scope.Declares(name); ++n) name = fmt::format("{}_{}", stem, n);
  term.alias = std::move(name);
}

void Binder::DeclareColumns(const FromTerm& term) {
  Variable& variable = variables_.all[term.variable];
  if (term.keyspace && IsSystemTable(*term.keyspace)) {
    variable.columns = SystemTableColumns(term.keyspace->parts.back());
  }
  if (term.expression == nullptr) return;
  const Expression& source = *term.expression;
  if (source.kind == ExprKind::kSubquery) {
    if (auto names = ResultNames(source.query->body)) variable.columns = std::move(*names);
  } else if (source.kind == ExprKind::kVariable) {
    variable.columns = variables_[source.variable].columns;
  } else if (source.kind == ExprKind::kCall &&
             std::ranges::find(kSources, source.name) != std::end(kSources)) {
    variable.columns = {"value"};
  }
}

void Binder::AppendColumns(VariableId source, const TextPlace& place,
                           std::vector<ResultTerm>* terms) {
  std::vector<std::string> names = variables_[source].columns;
  if (const db::TableSchema* table = TableOf(source)) {
    for (const db::TableColumn& column : table->columns) names.push_back(column.name);
  }
  for (const std::string& name : names) {
    ResultTerm term;
    term.place = place;
    term.expression = MakeColumnNamed(source, name, place);
    term.alias = name;
    terms->push_back(std::move(term));
  }
}

// t.*
bool Binder::ExpandTableStar(const ResultTerm& term, const Scope& scope,
                             std::vector<ResultTerm>* terms) {
  if (term.expression->kind != ExprKind::kName) return false;
  const VariableId variable = scope.Find(term.expression->name, true);
  if (variable == 0 || !HasColumns(variable)) return false;
  AppendColumns(variable, term.place, terms);
  return true;
}

// A column has the name of the table's column, any other term its text.
void Binder::NameByColumn(ResultTerm& term) {
  const Expression& bound = *term.expression;
  if (bound.kind == ExprKind::kLiteral && bound.or_text) term.alias = '"' + term.alias + '"';
  if (const Expression* column = PlainColumn(bound)) term.alias = column->name;
}

// ORDER BY 2 behind UNION.
void Binder::UseNumberedColumn(ExpressionPtr& expression, VariableId row) const {
  const std::vector<std::string>& columns = variables_[row].columns;
  if (expression->kind != ExprKind::kLiteral || !expression->value.is_int()) return;
  const int64_t n = expression->value.AsInt();
  if (n < 1 || n > static_cast<int64_t>(columns.size())) return;
  auto name = std::make_unique<Expression>();
  name->kind = ExprKind::kName;
  name->place = expression->place;
  name->name = columns[static_cast<size_t>(n - 1)];
  expression = std::move(name);
}

bool Binder::IsColumn(const Scope& scope, std::string_view name) const {
  for (const Scope* from = scope.WithFrom(); from != nullptr;
       from = from->outer == nullptr ? nullptr : from->outer->WithFrom()) {
    if (!TablesWith(*from, name).empty()) return true;
  }
  return false;
}

// WHERE, GROUP BY and HAVING may call result terms by their names, GROUP BY also by their numbers.
Status Binder::UseResultTerms(SelectBlock& block, const Scope& scope) {
  const auto use_names = [&](ExpressionPtr& root) {
    if (root == nullptr) return;
    WalkDeep(root, [&](ExpressionPtr& e) {
      if (e->kind == ExprKind::kField || e->kind == ExprKind::kSubquery) return false;
      if (e->kind != ExprKind::kName || IsColumn(scope, e->name)) return true;
      for (const ResultTerm& term : block.projection.terms) {
        if (term.star || !db::SameColumnName(term.alias, e->name)) continue;
        e = Clone(*term.expression);
        return false;
      }
      return true;
    });
  };
  use_names(block.where);
  if (!block.group) return OkStatus();
  for (NamedExpression& key : block.group->keys) {
    ASSIGN_OR_RETURN(ExpressionPtr numbered, TermAtPosition(*key.expression, block.projection));
    if (numbered != nullptr) key.expression = std::move(numbered);
    use_names(key.expression);
  }
  use_names(block.group->having);
  return OkStatus();
}

}  // namespace sluice::query
