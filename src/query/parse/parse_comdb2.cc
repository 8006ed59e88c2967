// What only Comdb2's dialect has: names that SQL++ reserves, aliases in quotes, IN (a, b), VALUES
// as a query, WITH t(a, b).
#include <algorithm>

#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

// Words that are no names in SQLite, of those that SQL++ reserves; and the few of SQL++ that begin
// what may follow a name.
constexpr Terminal kReserved[] = {
    "ALL",    "ALTER",       "AND",      "AS",        "BETWEEN", "CASE",   "COLLATE", "COMMIT",
    "CREATE", "DELETE",      "DISTINCT", "DROP",      "ELSE",    "ESCAPE", "EXCEPT",  "EXISTS",
    "FROM",   "GROUP",       "HAVING",   "IN",        "INDEX",   "INNER",  "INSERT",  "INTERSECT",
    "INTO",   "IS",          "JOIN",     "LEFT",      "LIMIT",   "NOT",    "NULL",    "ON",
    "OR",     "OUTER",       "PRIMARY",  "RETURNING", "RIGHT",   "SELECT", "SET",     "THEN",
    "TO",     "TRANSACTION", "UNION",    "UNIQUE",    "UPDATE",  "USING",  "VALUES",  "WHEN",
    "WHERE",  "UNNEST",      "NEST"};

// Of the others, those that begin an expression of SQL++.
constexpr Terminal kBeginning[] = {"MISSING", "TRUE",  "FALSE",  "ANY",  "SOME", "EVERY",
                                   "ARRAY",   "FIRST", "OBJECT", "SELF", "CAST"};

// What each operand of the body selects is named so.
bool NameTerms(QueryBody& body, const std::vector<std::string>& names) {
  if (auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    return NameTerms((*operation)->left, names) && NameTerms((*operation)->right, names);
  }
  if (auto* query = std::get_if<QueryPtr>(&body)) return NameTerms((*query)->body, names);
  std::vector<ResultTerm>& terms = std::get<std::unique_ptr<SelectBlock>>(body)->projection.terms;
  if (terms.size() != names.size() || std::ranges::any_of(terms, &ResultTerm::star)) return false;
  for (size_t i = 0; i < terms.size(); ++i) terms[i].alias = names[i];
  return true;
}

}  // namespace

bool Parser::IsComdb2Name(const Token& token) const {
  return comdb2() && token.kind == TokenKind::kWord && token.terminal.reserved() &&
         std::ranges::find(kReserved, token.terminal) == std::end(kReserved);
}

bool Parser::BeginsExpression(const Token& token) const {
  return std::ranges::find(kBeginning, token.terminal) != std::end(kBeginning);
}

// Without AS.
bool Parser::AtAlias() const {
  if (comdb2() && AtWord("CROSS") && IsAhead(1, "JOIN")) return false;
  return AtImplicitAlias() || (comdb2() && Here().kind == TokenKind::kString);
}

Result<std::string> Parser::Alias() {
  if (!comdb2() || Here().kind != TokenKind::kString) return Name("an alias");
  const Token& token = Here();
  std::string alias = TakeString();
  if (alias.empty()) return Unexpected(Wrong(token, "a name can't be empty"));
  return alias;
}

// VALUES (1, 2), (3, 4): the columns are column1, column2.
Result<QueryBody> Parser::ValuesHere() {
  RETURN_IF_ERROR(Expect("VALUES"));
  ASSIGN_OR_RETURN(std::unique_ptr<SelectBlock> block, ValuesRow());
  QueryBody body = std::move(block);
  while (Accept(",")) {
    auto both = std::make_unique<SetOperation>();
    both->all = true;
    both->left = std::move(body);
    ASSIGN_OR_RETURN(std::unique_ptr<SelectBlock> next, ValuesRow());
    both->right = std::move(next);
    body = std::move(both);
    if (++tallest_ > kMaxNesting) return Unexpected(TooDeep());
  }
  return body;
}

Result<std::unique_ptr<SelectBlock>> Parser::ValuesRow() {
  auto block = std::make_unique<SelectBlock>();
  block->place = place();
  RETURN_IF_ERROR(Expect("("));
  ASSIGN_OR_RETURN(Expressions values, ExprList());
  RETURN_IF_ERROR(Expect(")"));
  for (size_t i = 0; i < values.size(); ++i) {
    ResultTerm term;
    term.place = values[i]->place;
    term.alias = fmt::format("column{}", i + 1);
    term.expression = std::move(values[i]);
    block->projection.terms.push_back(std::move(term));
  }
  return block;
}

// After IN: a list of values, or a query, in parentheses.
Result<ExpressionPtr> Parser::InList() {
  const TextPlace start = place();
  RETURN_IF_ERROR(Expect("("));
  ExpressionPtr list;
  if (AtComdb2Query()) {
    ASSIGN_OR_RETURN(list, SubqueryHere());
  } else {
    list = Make(ExprKind::kArray, start);
    if (!At(")")) {
      ASSIGN_OR_RETURN(list->args, ExprList());
    }
  }
  if (!At(")")) return Unexpected(Expected("a comma or )"));
  ++at_;
  return Finish(std::move(list));
}

// WITH t(a, b) AS (...)
Status Parser::NameColumns(CommonTable* table, const std::vector<std::string>& names) {
  const bool named = table->expression->kind == ExprKind::kSubquery &&
                     NameTerms(table->expression->query->body, names);
  if (named) return OkStatus();
  return Wrong(Here(), fmt::format("WITH {}: expected a query with {} column{}, not with *",
                                   table->name, names.size(), names.size() == 1 ? "" : "s"));
}

}  // namespace sluice::query
