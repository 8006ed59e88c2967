#include "query/parse/parser.h"

#include <string>

#include "base/nearest.h"
#include "query/error.h"
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

// Candidates for a misspelt word: words that begin a statement, and words that begin a clause.
const std::string kStatementWords[] = {"ALTER",   "ANALYZE",  "BEGIN",     "BUILD",   "COMMIT",
                                       "CREATE",  "DELETE",   "DROP",      "EXECUTE", "EXPLAIN",
                                       "FLUSH",   "FROM",     "INFER",     "INSERT",  "MERGE",
                                       "PREPARE", "ROLLBACK", "SAVEPOINT", "SELECT",  "SET",
                                       "START",   "TRUNCATE", "UPDATE",    "UPSERT",  "WITH"};
const std::string kClauseWords[] = {"BETWEEN",   "EXCEPT", "FROM",      "GROUP",  "HAVING",
                                    "INTERSECT", "JOIN",   "LETTING",   "LIMIT",  "NEST",
                                    "OFFSET",    "ORDER",  "RETURNING", "SELECT", "UNION",
                                    "UNNEST",    "UNSET",  "VALUES",    "WHERE",  "WITHIN"};

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return upper;
}

bool IsPlainWord(const Token& token) {
  return token.kind == TokenKind::kWord && token.terminal.none();
}

}  // namespace

bool Parser::IsWordAhead(size_t count, std::string_view upper) const {
  const Token& token = Ahead(count);
  return token.kind == TokenKind::kWord && UpperCase(TextOf(token)) == upper;
}

bool Parser::AcceptWord(std::string_view upper) {
  if (!IsWordAhead(0, upper)) return false;
  ++at_;
  return true;
}

Status Parser::ExpectWord(std::string_view upper) {
  return AcceptWord(upper) ? OkStatus() : Expected(upper);
}

bool Parser::Accept(Terminal terminal) {
  if (!At(terminal)) return false;
  ++at_;
  return true;
}

bool Parser::Accept(Terminal first, Terminal second) {
  if (!At(first, second)) return false;
  at_ += 2;
  return true;
}

Status Parser::Expect(Terminal terminal) {
  return Accept(terminal) ? OkStatus() : Expected(terminal.text());
}

Status Parser::ExpectEnd() {
  bool ended = false;
  while (Accept(";")) ended = true;
  if (AtEnd()) return OkStatus();
  return ended ? Wrong(Here(), "expected nothing after the semicolon: one statement at a time")
               : ExpectedName("the end of the statement");
}

bool Parser::IsName(const Token& token) {
  return token.kind == TokenKind::kQuoted ||
         (token.kind == TokenKind::kWord && !token.terminal.reserved());
}

// A name where there may be none: the ORDER of ORDER BY is not meant.
bool Parser::AtImplicitAlias() const { return AtName() && !At("ORDER", "BY"); }

std::string Parser::TakeNameText() {
  const Token& token = tokens_[at_++];
  const std::string_view text = TextOf(token);
  return token.kind == TokenKind::kQuoted ? DecodeQuotedName(text) : std::string(text);
}

Result<std::string> Parser::Name(std::string_view what) {
  if (!AtName() && !IsComdb2Name(Here()))
    return Unexpected(ExpectedName(fmt::format("the name of {}", what)));
  const Token& token = Here();
  if (token.kind == TokenKind::kQuoted && IgnoresCase(TextOf(token))) {
    return Unexpected(Wrong(token, "only a name that is looked up can be in any case"));
  }
  std::string name = TakeNameText();
  if (name.empty()) return Unexpected(Wrong(token, "a name can't be empty"));
  return name;
}

Result<std::string> Parser::FieldName() {
  const TokenKind kind = Here().kind;
  if (kind != TokenKind::kWord && kind != TokenKind::kQuoted) {
    return Unexpected(Expected("a field's name or [ after the dot"));
  }
  return TakeNameText();
}

Result<std::string> Parser::NameOrString(std::string_view what) {
  if (Here().kind != TokenKind::kString) return Name(what);
  return TakeString();
}

Status Parser::Wrong(const Token& token, std::string_view what) const {
  return SyntaxError(text_, token, what);
}

Status Parser::Expected(std::string_view what) const {
  return Wrong(Here(), fmt::format("expected {}{}", what, DidYouMean()));
}

Status Parser::ExpectedName(std::string_view what) const {
  if (!Here().terminal.reserved()) return Expected(what);
  return Wrong(Here(), fmt::format("expected {} ({} is a reserved word; as a name it goes in back "
                                   "quotes: `{}`)",
                                   what, TextOf(Here()), TextOf(Here())));
}

Status Parser::TooDeep() const {
  return Wrong(Here(), fmt::format("the statement is nested too deeply: the most is {} levels",
                                   kMaxNesting));
}

// A suggestion for the word at an error, or the word before it.
std::string Parser::DidYouMean() const {
  for (size_t back = 0; back < 2 && back <= at_; ++back) {
    const Token& near = tokens_[at_ - back];
    if (!IsPlainWord(near)) continue;
    const std::string nearest = NearestName(UpperCase(TextOf(near)), kClauseWords);
    if (!nearest.empty()) return fmt::format(" (did you mean {}?)", nearest);
  }
  return "";
}

Status Parser::UnknownStatement() const {
  if (AtEnd()) return Wrong(Here(), "expected a statement, such as SELECT");
  const std::string nearest = Here().kind == TokenKind::kWord
                                  ? NearestName(UpperCase(TextOf(Here())), kStatementWords)
                                  : "";
  if (nearest.empty()) {
    return Wrong(Here(), "expected a statement, such as SELECT, INSERT, UPDATE or CREATE");
  }
  return Wrong(Here(), fmt::format("expected a statement; did you mean {}?", nearest));
}

void Parser::CopyParameters(Statement* statement) const {
  statement->positional_parameters = std::max(question_marks_, highest_parameter_);
  statement->named_parameters = named_parameters_;
}

Result<Statement> Parser::StatementHere() {
  const Level level(this);
  if (level.too_deep()) return Unexpected(TooDeep());
  Statement statement;
  statement.place = place();
  RETURN_IF_ERROR(StatementBody(&statement));
  CopyParameters(&statement);
  return statement;
}

Status Parser::StatementBody(Statement* statement) {
  const auto take = [&](auto result) -> Status {
    if (!result) return result.error();
    statement->body = std::move(*result);
    return OkStatus();
  };
  if (AtQuery() || At("(") || (comdb2() && At("VALUES"))) return take(QueryHere());
  RETURN_IF_ERROR(Unsupported());
  const bool replaces = AtWord("REPLACE") && IsAhead(1, "INTO");
  if (At("INSERT") || At("UPSERT") || replaces) return take(Insert());
  if (At("UPDATE", "STATISTICS") || At("ANALYZE")) return take(Statistics());
  if (At("UPDATE")) return take(Update());
  if (At("DELETE")) return take(Delete());
  if (At("MERGE")) return take(Merge());
  using Action = ProcedureStatement::Action;
  if (At("CREATE", "PROCEDURE")) return take(Procedure(Action::kCreate));
  if (At("DROP", "PROCEDURE")) return take(Procedure(Action::kDrop));
  if (AtWord("PUT")) return take(Procedure(Action::kPutDefault));
  if (AtTrigger()) return take(Trigger());
  if (AtLuaFunction()) return take(LuaFunction());
  if (AtProcedureCall()) return take(Procedure(Action::kExecute));
  if (At("CREATE")) return Create(statement);
  if (At("DROP")) return Drop(statement);
  if (At("ALTER")) return Alter(statement);
  if (At("BUILD")) return take(BuildIndex());
  if (At("FLUSH") || At("TRUNCATE")) return take(Flush());
  if (At("RENAME")) return take(RenameTable());
  if (At("PREPARE")) return take(Prepare());
  if (At("EXECUTE")) return take(Execute());
  if (At("EXPLAIN")) return take(Explain());
  if (At("INFER")) return take(Infer());
  const bool transaction =
      At("BEGIN") || At("START") || At("COMMIT") || At("ROLLBACK") || At("SAVEPOINT") || At("SET");
  return transaction ? take(Transaction()) : UnknownStatement();
}

Result<Statement> Parser::WholeStatement() {
  ASSIGN_OR_RETURN(Statement statement, StatementHere());
  RETURN_IF_ERROR(ExpectEnd());
  return statement;
}

Result<ExpressionPtr> Parser::WholeExpression() {
  ASSIGN_OR_RETURN(ExpressionPtr expression, Expr());
  if (!AtEnd()) return Unexpected(Expected("the end of the expression"));
  return expression;
}

Result<IndexKey> Parser::WholeIndexKey() {
  ASSIGN_OR_RETURN(IndexKey key, IndexKeyHere());
  if (!AtEnd()) return Unexpected(Expected("the end of the index key"));
  return key;
}

Result<Statement> ParseStatement(std::string_view text, Dialect dialect) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Lex(text, dialect));
  return Parser(text, std::move(tokens), dialect).WholeStatement();
}

Result<ExpressionPtr> ParseExpression(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Lex(text));
  return Parser(text, std::move(tokens)).WholeExpression();
}

Result<IndexKey> ParseIndexKey(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Lex(text));
  return Parser(text, std::move(tokens)).WholeIndexKey();
}

}  // namespace sluice::query
