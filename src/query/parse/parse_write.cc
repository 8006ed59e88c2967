// INSERT, UPSERT, REPLACE, UPDATE and DELETE.
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

// A field of the document, or META().something.
bool IsAssignable(const Expression& path) {
  const Expression* at = &path;
  while (at->kind == ExprKind::kField || at->kind == ExprKind::kFieldOf ||
         at->kind == ExprKind::kElement) {
    at = at->args[0].get();
  }
  const bool meta = at->kind == ExprKind::kCall && at->name == "meta" && at != &path;
  return at->kind == ExprKind::kName || meta;
}

}  // namespace

Result<InsertStatement> Parser::Insert() {
  InsertStatement insert;
  RETURN_IF_ERROR(InsertAction(&insert));
  RETURN_IF_ERROR(Expect("INTO"));
  insert.target.place = place();
  ASSIGN_OR_RETURN(insert.target.keyspace, Keyspace());
  insert.target.alias = insert.target.keyspace->parts.back();
  RETURN_IF_ERROR(TermAlias(&insert.target));
  RETURN_IF_ERROR(InsertSource(&insert));
  RETURN_IF_ERROR(OnConflict(&insert));
  RETURN_IF_ERROR(Returning(&insert.returning));
  return insert;
}

// INSERT [OR REPLACE | OR IGNORE], UPSERT or REPLACE
Status Parser::InsertAction(InsertStatement* insert) {
  using Action = ConflictClause::Action;
  const TextPlace here = place();
  std::optional<Action> action;
  if (AcceptWord("REPLACE")) {
    action = Action::kReplace;
  } else {
    insert->upsert = At("UPSERT");
    ++at_;
    if (insert->upsert || !Accept("OR")) return OkStatus();
    if (AcceptWord("REPLACE")) action = Action::kReplace;
    if (!action && AcceptWord("IGNORE")) action = Action::kNothing;
    if (!action) return Expected("REPLACE or IGNORE");
  }
  insert->conflict.emplace();
  insert->conflict->place = here;
  insert->conflict->action = *action;
  return OkStatus();
}

// ON CONFLICT [(columns)] DO NOTHING | DO UPDATE SET ... [WHERE condition]
Status Parser::OnConflict(InsertStatement* insert) {
  if (!At("ON")) return OkStatus();
  if (insert->conflict) {
    return Wrong(Here(), "ON CONFLICT: the statement already has an action for conflicts");
  }
  insert->conflict.emplace();
  ConflictClause& clause = *insert->conflict;
  clause.place = place();
  ++at_;
  RETURN_IF_ERROR(ExpectWord("CONFLICT"));
  if (Accept("(")) {
    ASSIGN_OR_RETURN(clause.columns, PlacedColumnNames());
    if (At("WHERE")) {
      return Wrong(Here(),
                   "ON CONFLICT (columns) WHERE is not supported: it means a unique index with a "
                   "condition, which Sluice does not have. Leave WHERE out");
    }
  }
  RETURN_IF_ERROR(ExpectWord("DO"));
  if (AcceptWord("NOTHING")) return OkStatus();
  if (!Accept("UPDATE")) return Expected("NOTHING or UPDATE");
  clause.action = ConflictClause::Action::kUpdate;
  if (!At("SET")) return Expected("SET");
  RETURN_IF_ERROR(SetClause(&clause.set));
  return WhereClause(&clause.where);
}

Status Parser::InsertSource(InsertStatement* insert) {
  if (AtQuery()) return InsertSelect(insert);
  if (!At("(")) return InsertRows(insert);
  const size_t key = IsAhead(1, "PRIMARY") ? 2 : 1;
  if (!IsAhead(key, "KEY")) return InsertColumns(insert);
  const bool listed = IsAhead(key + 1, ",") || IsAhead(key + 1, ")");
  // A table may have a column of that name.
  if (listed && key == 1 && (comdb2() || !IsAhead(key + 2, "VALUE"))) return InsertColumns(insert);
  if (listed) {
    RETURN_IF_ERROR(InsertHeader());
    return InsertRows(insert);
  }
  ASSIGN_OR_RETURN(KeyValueOptions named, KeyValue());
  insert->select_key = std::move(named.key);
  insert->select_value = std::move(named.value);
  insert->select_options = std::move(named.options);
  return InsertSelect(insert);
}

Status Parser::InsertSelect(InsertStatement* insert) {
  if (!AtQuery() && !At("(")) return Expected("SELECT, the source of the documents");
  ASSIGN_OR_RETURN(insert->select, QueryHere());
  return OkStatus();
}

// (a, b) of a table, then its rows; or a query in parentheses.
Status Parser::InsertColumns(InsertStatement* insert) {
  if (IsAhead(1, "SELECT") || IsAhead(1, "WITH") || IsAhead(1, "FROM") || IsAhead(1, "(")) {
    return InsertSelect(insert);
  }
  const bool name = Ahead(1).kind == TokenKind::kWord || Ahead(1).kind == TokenKind::kQuoted;
  if (!name) return Expected("VALUES or (KEY ..., VALUE ...)");
  ++at_;
  ASSIGN_OR_RETURN(insert->columns, PlacedColumnNames());
  return At("VALUES") ? InsertRows(insert) : InsertSelect(insert);
}

// (KEY, VALUE [, OPTIONS]): adds no information to VALUES.
Status Parser::InsertHeader() {
  RETURN_IF_ERROR(Expect("("));
  Accept("PRIMARY");
  RETURN_IF_ERROR(Expect("KEY"));
  RETURN_IF_ERROR(Expect(","));
  RETURN_IF_ERROR(Expect("VALUE"));
  if (Accept(",")) RETURN_IF_ERROR(Expect("OPTIONS"));
  return Expect(")");
}

Status Parser::InsertRows(InsertStatement* insert) {
  if (!At("VALUES")) return Expected("VALUES");
  do {
    Accept("VALUES");
    ASSIGN_OR_RETURN(InsertValues row, InsertRow(!insert->columns.empty()));
    insert->rows.push_back(std::move(row));
  } while (Accept(","));
  return OkStatus();
}

// Two or three values may be a key, a document and options.
Result<InsertValues> Parser::InsertRow(bool of_columns) {
  InsertValues row;
  row.place = place();
  RETURN_IF_ERROR(Expect("("));
  ASSIGN_OR_RETURN(Expressions values, ExprList());
  RETURN_IF_ERROR(Expect(")"));
  if (of_columns || values.size() < 2 || values.size() > 3) {
    row.columns = std::move(values);
    return row;
  }
  row.key = std::move(values[0]);
  row.value = std::move(values[1]);
  if (values.size() == 3) row.options = std::move(values[2]);
  return row;
}

// ([PRIMARY] KEY e [, VALUE e] [, OPTIONS e])
Result<Parser::KeyValueOptions> Parser::KeyValue() {
  KeyValueOptions named;
  RETURN_IF_ERROR(Expect("("));
  Accept("PRIMARY");
  RETURN_IF_ERROR(Expect("KEY"));
  ASSIGN_OR_RETURN(named.key, Expr());
  if (Accept(",", "VALUE")) {
    ASSIGN_OR_RETURN(named.value, Expr());
  }
  if (Accept(",", "OPTIONS")) {
    ASSIGN_OR_RETURN(named.options, Expr());
  }
  if (!At(")")) return Unexpected(Expected("VALUE, OPTIONS or )"));
  ++at_;
  return named;
}

Result<UpdateStatement> Parser::Update() {
  RETURN_IF_ERROR(Expect("UPDATE"));
  UpdateStatement update;
  ASSIGN_OR_RETURN(update.target, Target());
  if (Accept("LET")) {
    ASSIGN_OR_RETURN(update.let, Assignments());
  }
  if (!At("SET") && !At("UNSET")) return Unexpected(Expected("SET or UNSET"));
  RETURN_IF_ERROR(SetClause(&update.set));
  RETURN_IF_ERROR(UnsetClause(&update.unset));
  RETURN_IF_ERROR(WhereClause(&update.where));
  RETURN_IF_ERROR(LimitAndOffset(&update.limit, &update.offset));
  RETURN_IF_ERROR(Returning(&update.returning));
  return update;
}

Result<DeleteStatement> Parser::Delete() {
  RETURN_IF_ERROR(Expect("DELETE"));
  RETURN_IF_ERROR(Expect("FROM"));
  DeleteStatement statement;
  ASSIGN_OR_RETURN(statement.target, Target());
  if (Accept("LET")) {
    ASSIGN_OR_RETURN(statement.let, Assignments());
  }
  RETURN_IF_ERROR(WhereClause(&statement.where));
  RETURN_IF_ERROR(LimitAndOffset(&statement.limit, &statement.offset));
  RETURN_IF_ERROR(Returning(&statement.returning));
  return statement;
}

Status Parser::SetClause(std::vector<Assignment>* set) {
  if (!Accept("SET")) return OkStatus();
  do {
    Assignment assignment;
    assignment.place = place();
    ASSIGN_OR_RETURN(assignment.target, AssignedPath());
    RETURN_IF_ERROR(Expect("="));
    ASSIGN_OR_RETURN(assignment.value, Expr());
    ASSIGN_OR_RETURN(assignment.loops, UpdateLoops());
    set->push_back(std::move(assignment));
  } while (Accept(","));
  return OkStatus();
}

Status Parser::UnsetClause(std::vector<Assignment>* unset) {
  if (!Accept("UNSET")) return OkStatus();
  do {
    Assignment assignment;
    assignment.place = place();
    ASSIGN_OR_RETURN(assignment.target, AssignedPath());
    ASSIGN_OR_RETURN(assignment.loops, UpdateLoops());
    unset->push_back(std::move(assignment));
  } while (Accept(","));
  return OkStatus();
}

Result<ExpressionPtr> Parser::AssignedPath() {
  const Token& token = Here();
  ASSIGN_OR_RETURN(ExpressionPtr path, Postfix());
  if (!IsAssignable(*path)) {
    return Unexpected(Wrong(token, "expected the path of a field, or META().expiration"));
  }
  return path;
}

// FOR v IN e, ... FOR ... WHEN c END: the condition belongs to the innermost.
Result<std::vector<UpdateFor>> Parser::UpdateLoops() {
  std::vector<UpdateFor> loops;
  while (Accept("FOR")) {
    if (loops.size() == static_cast<size_t>(kMaxNesting)) return Unexpected(TooDeep());
    UpdateFor loop;
    ASSIGN_OR_RETURN(loop.bindings, Bindings());
    loops.push_back(std::move(loop));
  }
  if (loops.empty()) return loops;
  if (Accept("WHEN")) {
    ASSIGN_OR_RETURN(loops.back().when, Expr());
  }
  if (!At("END")) return Unexpected(Expected("FOR, WHEN or END"));
  ++at_;
  return loops;
}

}  // namespace sluice::query
