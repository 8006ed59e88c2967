// Queries: WITH, SELECT and its clauses, set operators, ORDER BY, LIMIT and OFFSET.
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

// Nothing of its own around the body: parentheses that change nothing.
bool IsBodyOnly(const Query& query) {
  return query.with.empty() && query.order_by.empty() && !query.limit && !query.offset;
}

QueryBody BodyOf(QueryPtr query) {
  if (IsBodyOnly(*query)) return std::move(query->body);
  return query;
}

}  // namespace

Result<QueryPtr> Parser::QueryHere() {
  const Level level(this);
  if (level.too_deep()) return Unexpected(TooDeep());
  auto query = std::make_unique<Query>();
  query->place = place();
  if (At("WITH")) RETURN_IF_ERROR(WithClause(query.get()));
  ASSIGN_OR_RETURN(query->body, QueryTerm());
  RETURN_IF_ERROR(QueryTail(query.get()));
  return query;
}

Result<QueryPtr> Parser::QueryFrom(QueryPtr first) {
  auto query = std::make_unique<Query>();
  query->place = first->place;
  query->body = BodyOf(std::move(first));
  RETURN_IF_ERROR(QueryTail(query.get()));
  return query;
}

Status Parser::QueryTail(Query* query) {
  RETURN_IF_ERROR(SetOperations(query));
  if (At("ORDER")) {
    ASSIGN_OR_RETURN(query->order_by, OrderBy());
  }
  return LimitAndOffset(&query->limit, &query->offset);
}

// All three bind alike, to the left.
Status Parser::SetOperations(Query* query) {
  while (At("UNION") || At("INTERSECT") || At("EXCEPT")) {
    auto operation = std::make_unique<SetOperation>();
    operation->op = At("UNION")       ? SetOperator::kUnion
                    : At("INTERSECT") ? SetOperator::kIntersect
                                      : SetOperator::kExcept;
    ++at_;
    operation->all = Accept("ALL");
    operation->left = std::move(query->body);
    ASSIGN_OR_RETURN(operation->right, QueryTerm());
    query->body = std::move(operation);
    if (++tallest_ > kMaxNesting) return TooDeep();
  }
  return OkStatus();
}

Result<QueryBody> Parser::QueryTerm() {
  if (comdb2() && At("VALUES")) return ValuesHere();
  if (!At("(")) {
    ASSIGN_OR_RETURN(std::unique_ptr<SelectBlock> block, Block());
    return QueryBody(std::move(block));
  }
  ++at_;
  ASSIGN_OR_RETURN(QueryPtr query, QueryHere());
  RETURN_IF_ERROR(Expect(")"));
  return BodyOf(std::move(query));
}

Status Parser::WithClause(Query* query) {
  RETURN_IF_ERROR(Expect("WITH"));
  query->recursive = Accept("RECURSIVE");
  do {
    ASSIGN_OR_RETURN(CommonTable table, CommonTableHere());
    query->with.push_back(std::move(table));
  } while (Accept(","));
  return OkStatus();
}

Result<CommonTable> Parser::CommonTableHere() {
  CommonTable table;
  table.place = place();
  ASSIGN_OR_RETURN(table.name, Name("a WITH term"));
  std::vector<std::string> columns;
  if (comdb2() && Accept("(")) {
    ASSIGN_OR_RETURN(columns, ColumnNames());
  }
  RETURN_IF_ERROR(Expect("AS"));
  if (!At("(")) return Unexpected(Expected("("));
  ASSIGN_OR_RETURN(table.expression, Parenthesised());
  if (!columns.empty()) RETURN_IF_ERROR(NameColumns(&table, columns));
  while (true) {
    if (At("OPTIONS") && !table.options) {
      ++at_;
      ASSIGN_OR_RETURN(table.options, Constant("an object"));
    } else if (At("CYCLE") && table.cycle.empty()) {
      ++at_;
      ASSIGN_OR_RETURN(table.cycle, ExprList());
      RETURN_IF_ERROR(Expect("RESTRICT"));
    } else {
      return table;
    }
  }
}

// SELECT first or FROM first.
Result<std::unique_ptr<SelectBlock>> Parser::Block() {
  auto block = std::make_unique<SelectBlock>();
  block->place = place();
  if (At("SELECT")) {
    RETURN_IF_ERROR(SelectClause(block.get()));
    if (At("FROM")) {
      ASSIGN_OR_RETURN(block->from, From());
    }
    RETURN_IF_ERROR(Middle(block.get()));
  } else if (At("FROM")) {
    ASSIGN_OR_RETURN(block->from, From());
    RETURN_IF_ERROR(Middle(block.get()));
    if (!At("SELECT")) return Unexpected(Expected("SELECT, as FROM came first"));
    RETURN_IF_ERROR(SelectClause(block.get()));
  } else {
    return Unexpected(Expected("SELECT or FROM"));
  }
  return block;
}

Status Parser::SelectClause(SelectBlock* block) {
  RETURN_IF_ERROR(Expect("SELECT"));
  while (Here().kind == TokenKind::kHint) {
    block->hints.emplace_back(HintText(TextOf(tokens_[at_++])));
  }
  const bool distinct = Accept("DISTINCT");
  if (!distinct) Accept("ALL");
  ASSIGN_OR_RETURN(block->projection, ProjectionHere());
  block->projection.distinct = distinct;
  if (Accept("EXCLUDE")) {
    ASSIGN_OR_RETURN(block->projection.exclude, ExprList());
  }
  return OkStatus();
}

// From LET to WINDOW.
Status Parser::Middle(SelectBlock* block) {
  if (Accept("LET")) {
    ASSIGN_OR_RETURN(block->let, Assignments());
  }
  RETURN_IF_ERROR(WhereClause(&block->where));
  RETURN_IF_ERROR(Group(block));
  return Accept("WINDOW") ? WindowClause(block) : OkStatus();
}

Result<Projection> Parser::ProjectionHere() {
  Projection projection;
  const bool named_value = At("VALUE") && (comdb2() || IsAhead(1, "FROM") || IsAhead(1, ",") ||
                                           IsAhead(1, "AS") || Ahead(1).kind == TokenKind::kEnd);
  projection.raw = Accept("RAW") || Accept("ELEMENT") || (!named_value && Accept("VALUE"));
  if (projection.raw) {
    ResultTerm term;
    term.place = place();
    ASSIGN_OR_RETURN(term.expression, Expr());
    ASSIGN_OR_RETURN(term.alias, OptionalAlias());
    projection.terms.push_back(std::move(term));
    return projection;
  }
  do {
    ASSIGN_OR_RETURN(ResultTerm term, ResultTermHere());
    projection.terms.push_back(std::move(term));
  } while (Accept(","));
  return projection;
}

Result<ResultTerm> Parser::ResultTermHere() {
  ResultTerm term;
  term.place = place();
  if (Accept("*")) {
    term.star = true;
    return term;
  }
  const size_t start = at_;
  ASSIGN_OR_RETURN(term.expression, Expr());
  if (At(".", "*")) {
    if (operand_start_ != start) {
      return Unexpected(Wrong(Here(), "expected parentheses around the expression before .*"));
    }
    at_ += 2;
    term.star = true;
    return term;
  }
  if (Accept("AS") || AtAlias()) {
    term.place = place();
    ASSIGN_OR_RETURN(term.alias, Alias());
  } else if (comdb2() && term.expression->kind != ExprKind::kName &&
             term.expression->kind != ExprKind::kField) {
    term.alias = TextSince(start);
  }
  return term;
}

Result<std::string> Parser::OptionalAlias() {
  if (Accept("AS") || AtAlias()) return Alias();
  return std::string();
}

// name = expression, ...
Result<std::vector<NamedExpression>> Parser::Assignments() {
  std::vector<NamedExpression> list;
  do {
    NamedExpression named;
    named.place = place();
    ASSIGN_OR_RETURN(named.name, Name("a variable"));
    RETURN_IF_ERROR(Expect("="));
    ASSIGN_OR_RETURN(named.expression, Expr());
    list.push_back(std::move(named));
  } while (Accept(","));
  return list;
}

Status Parser::WhereClause(ExpressionPtr* where) {
  if (!Accept("WHERE")) return OkStatus();
  ASSIGN_OR_RETURN(*where, Expr());
  return OkStatus();
}

Status Parser::Group(SelectBlock* block) {
  if (!At("GROUP") && !At("LETTING") && !At("HAVING")) return OkStatus();
  GroupClause group;
  if (Accept("GROUP")) {
    RETURN_IF_ERROR(Expect("BY"));
    do {
      NamedExpression key;
      key.place = place();
      ASSIGN_OR_RETURN(key.expression, Expr());
      ASSIGN_OR_RETURN(key.name, OptionalAlias());
      group.keys.push_back(std::move(key));
    } while (Accept(","));
    if (Accept("GROUP")) {
      RETURN_IF_ERROR(Expect("AS"));
      ASSIGN_OR_RETURN(group.group_as, Name("the group"));
    }
  }
  if (Accept("LETTING")) {
    ASSIGN_OR_RETURN(group.letting, Assignments());
  }
  if (Accept("HAVING")) {
    ASSIGN_OR_RETURN(group.having, Expr());
  }
  block->group = std::move(group);
  return OkStatus();
}

Status Parser::WindowClause(SelectBlock* block) {
  do {
    NamedWindow window;
    ASSIGN_OR_RETURN(window.name, Name("a window"));
    RETURN_IF_ERROR(Expect("AS"));
    ASSIGN_OR_RETURN(window.spec, Window());
    block->windows.push_back(std::move(window));
  } while (Accept(","));
  return OkStatus();
}

Result<std::vector<SortTerm>> Parser::OrderBy() {
  RETURN_IF_ERROR(Expect("ORDER"));
  RETURN_IF_ERROR(Expect("BY"));
  std::vector<SortTerm> terms;
  do {
    ASSIGN_OR_RETURN(SortTerm term, SortTermHere());
    terms.push_back(std::move(term));
  } while (Accept(","));
  return terms;
}

Result<SortTerm> Parser::SortTermHere() {
  SortTerm term;
  ASSIGN_OR_RETURN(term.expression, Expr());
  if (Accept("DESC")) {
    term.descending = true;
  } else if (Here().kind == TokenKind::kParameter) {
    ASSIGN_OR_RETURN(term.direction, NamedParameter());
  } else if (At("?")) {
    ASSIGN_OR_RETURN(term.direction, QuestionMark());
  } else {
    Accept("ASC");
  }
  if (Accept("NULLS")) {
    if (!At("FIRST") && !At("LAST")) return Unexpected(Expected("FIRST or LAST"));
    term.nulls = At("FIRST") ? SortTerm::Nulls::kFirst : SortTerm::Nulls::kLast;
    ++at_;
  }
  return term;
}

// In either order, each once.
Status Parser::LimitAndOffset(ExpressionPtr* limit, ExpressionPtr* offset) {
  while ((At("LIMIT") && !*limit) || (At("OFFSET") && !*offset)) {
    ExpressionPtr* const target = At("LIMIT") ? limit : offset;
    ++at_;
    ASSIGN_OR_RETURN(*target, Expr());
    if (comdb2() && target == limit && !*offset && Accept(",")) {  // LIMIT offset, count
      *offset = std::move(*limit);
      ASSIGN_OR_RETURN(*limit, Expr());
    }
  }
  return OkStatus();
}

Status Parser::Returning(std::optional<Projection>* returning) {
  if (!Accept("RETURNING")) return OkStatus();
  ASSIGN_OR_RETURN(*returning, ProjectionHere());
  return OkStatus();
}

}  // namespace sluice::query
