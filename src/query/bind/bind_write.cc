// Statements that write: the target is a FROM term of its own, RETURNING sees it after the write.
#include <utility>

#include "query/bind/binder.h"
#include "query/bind/scope.h"
#include "query/error.h"
#include "query/functions/table.h"
#include "query/functions/text.h"

namespace sluice::query {

Status Binder::BindTarget(FromTerm& term, Scope& scope) {
  RETURN_IF_ERROR(BindTerm(term, scope));
  if (!term.keyspace || IsSystemKeyspace(*term.keyspace)) {
    return AtPlace(QueryError(QueryCode::kPlan, "expected a keyspace to write to"), term.place);
  }
  return DeclareTerm(term, scope);
}

Status Binder::BindReturning(std::optional<Projection>& returning, Scope& scope) {
  return returning ? BindProjection(*returning, scope) : OkStatus();
}

Status Binder::Bind(InsertStatement& statement) {
  Scope target(nullptr);
  RETURN_IF_ERROR(BindTarget(statement.target, target));
  RETURN_IF_ERROR(TableOf(statement.target.variable) != nullptr ? BindTableInsert(statement)
                                                                : BindDocumentInsert(statement));
  if (statement.conflict) RETURN_IF_ERROR(BindConflict(statement, target));
  return BindReturning(statement.returning, target);
}

namespace {

// In Comdb2's dialect (KEY, VALUE) may name columns of a table, which the parser can't know. For
// documents they are key and value.
void TakeKeyAndValue(InsertStatement& statement) {
  constexpr std::string_view kNames[] = {"key", "value", "options"};
  const size_t count = statement.columns.size();
  if (count < 2 || count > 3) return;
  for (size_t i = 0; i < count; ++i) {
    if (ToLowerAscii(statement.columns[i].name) != kNames[i]) return;
  }
  for (const InsertValues& row : statement.rows) {
    if (row.columns.size() != count) return;
  }
  for (InsertValues& row : statement.rows) {
    row.key = std::move(row.columns[0]);
    row.value = std::move(row.columns[1]);
    if (count == 3) row.options = std::move(row.columns[2]);
    row.columns.clear();
  }
  statement.columns.clear();
}

}  // namespace

Status Binder::BindDocumentInsert(InsertStatement& statement) {
  Scope scope(nullptr);
  if (statement.select == nullptr) TakeKeyAndValue(statement);
  if (statement.conflict) {
    return AtPlace(
        QueryError(QueryCode::kPlan,
                   "'{}' is not a table: REPLACE and ON CONFLICT are for tables, documents "
                   "have UPSERT",
                   statement.target.keyspace->parts.back()),
        statement.conflict->place);
  }
  if (!statement.columns.empty() || (statement.select != nullptr && !statement.select_key)) {
    return AtPlace(
        QueryError(QueryCode::kPlan,
                   "'{}' is not a table: expected (KEY, VALUE) or (KEY key, VALUE document)",
                   statement.target.keyspace->parts.back()),
        statement.target.place);
  }
  for (InsertValues& row : statement.rows) {
    if (row.key == nullptr) {
      return AtPlace(QueryError(QueryCode::kSyntax,
                                "a document has a key and a value: VALUES (key, document)"),
                     row.place);
    }
    RETURN_IF_ERROR(BindExpression(row.key, scope));
    RETURN_IF_ERROR(BindExpression(row.value, scope));
    RETURN_IF_ERROR(BindOptional(row.options, scope));
  }
  if (statement.select != nullptr) {
    RETURN_IF_ERROR(BindQuery(*statement.select, nullptr));
    // KEY, VALUE and OPTIONS see the rows of the SELECT by their names.
    if (statement.select->result_variable == 0) {
      statement.select->result_variable = variables_.Add("");
    }
    Scope rows(nullptr);
    rows.has_from = true;
    rows.sources = {statement.select->result_variable};
    RETURN_IF_ERROR(BindOptional(statement.select_key, rows));
    RETURN_IF_ERROR(BindOptional(statement.select_value, rows));
    RETURN_IF_ERROR(BindOptional(statement.select_options, rows));
  }
  return OkStatus();
}

Status Binder::BindAssignments(std::vector<Assignment>& assignments, Scope& scope) {
  for (Assignment& assignment : assignments) {
    Scope inner(&scope);
    // The last FOR is the outermost loop.
    for (auto loop = assignment.loops.rbegin(); loop != assignment.loops.rend(); ++loop) {
      Scope names(&inner);
      RETURN_IF_ERROR(BindRanges(loop->bindings, names));
      for (Scope::Name& name : names.names) inner.names.push_back(std::move(name));
      RETURN_IF_ERROR(BindOptional(loop->when, inner));
    }
    RETURN_IF_ERROR(BindExpression(assignment.target, inner));
    // A column is written as it is stored.
    const Expression& target = *assignment.target;
    if (target.kind == ExprKind::kCall && target.name == kColumnValueFunction) {
      assignment.target = ExpressionPtr(std::move(assignment.target->args[0]));
    }
    RETURN_IF_ERROR(BindOptional(assignment.value, inner));
  }
  return OkStatus();
}

// Binds the common part of UPDATE and DELETE: the selection of documents.
template <typename Changing>
Status Binder::BindChosen(Changing& statement, Scope& scope) {
  RETURN_IF_ERROR(BindTarget(statement.target, scope));
  RETURN_IF_ERROR(BindLet(statement.let, scope));
  RETURN_IF_ERROR(BindOptional(statement.where, scope));
  Scope constants(nullptr);
  RETURN_IF_ERROR(BindOptional(statement.limit, constants));
  return BindOptional(statement.offset, constants);
}

Status Binder::Bind(UpdateStatement& statement) {
  Scope scope(nullptr);
  RETURN_IF_ERROR(BindChosen(statement, scope));
  RETURN_IF_ERROR(BindAssignments(statement.set, scope));
  RETURN_IF_ERROR(BindAssignments(statement.unset, scope));
  if (TableOf(statement.target.variable) != nullptr) {
    RETURN_IF_ERROR(CheckTableUpdate(statement.target.variable, statement.set, statement.unset));
  }
  return BindReturning(statement.returning, scope);
}

Status Binder::Bind(DeleteStatement& statement) {
  Scope scope(nullptr);
  RETURN_IF_ERROR(BindChosen(statement, scope));
  return BindReturning(statement.returning, scope);
}

// {alias: source}, the merged row: the document that INSERT (KEY k) inserts.
ExpressionPtr Binder::RowOf(const FromTerm& source) const {
  auto row = std::make_unique<Expression>();
  row->kind = ExprKind::kObject;
  row->place = source.place;
  auto name = std::make_unique<Expression>();
  name->kind = ExprKind::kLiteral;
  name->value = json::Value(source.alias);
  row->args.push_back(std::move(name));
  row->args.push_back(MakeVariable(variables_, source.variable, source.place));
  return row;
}

Status Binder::Bind(MergeStatement& statement) {
  Scope scope(nullptr);
  Scope sources(nullptr);
  RETURN_IF_ERROR(BindTerm(statement.source, sources));
  RETURN_IF_ERROR(DeclareTerm(statement.source, sources));
  scope.names = sources.names;
  scope.sources = sources.sources;
  scope.has_from = true;
  RETURN_IF_ERROR(BindTarget(statement.target, scope));
  if (TableOf(statement.target.variable) != nullptr) {
    return AtPlace(QueryError(QueryCode::kPlan, "MERGE writes documents, not rows of a table"),
                   statement.target.place);
  }
  RETURN_IF_ERROR(BindOptional(statement.on, scope));
  RETURN_IF_ERROR(BindOptional(statement.on_key, sources));
  RETURN_IF_ERROR(BindLet(statement.let, scope));
  for (const NamedExpression& let : statement.let) {
    sources.names.push_back({let.name, let.variable});
  }
  RETURN_IF_ERROR(BindAssignments(statement.set, scope));
  RETURN_IF_ERROR(BindAssignments(statement.unset, scope));
  RETURN_IF_ERROR(BindOptional(statement.update_where, scope));
  RETURN_IF_ERROR(BindOptional(statement.delete_where, scope));
  RETURN_IF_ERROR(BindOptional(statement.insert_key, sources));
  RETURN_IF_ERROR(BindOptional(statement.insert_value, sources));
  RETURN_IF_ERROR(BindOptional(statement.insert_options, sources));
  RETURN_IF_ERROR(BindOptional(statement.insert_where, sources));
  if (statement.insert_key != nullptr && statement.insert_value == nullptr) {
    statement.insert_value = RowOf(statement.source);
  }
  Scope constants(nullptr);
  RETURN_IF_ERROR(BindOptional(statement.limit, constants));
  scope.main_source = statement.target.variable;
  return BindReturning(statement.returning, scope);
}

}  // namespace sluice::query
