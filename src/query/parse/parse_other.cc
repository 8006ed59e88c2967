// Statements about statements, INFER, transactions and statistics.
#include "query/parse/parser_impl.h"

namespace sluice::query {

// PREPARE [FORCE] [name FROM|AS] statement
Result<PrepareStatement> Parser::Prepare() {
  RETURN_IF_ERROR(Expect("PREPARE"));
  PrepareStatement prepare;
  prepare.force = Accept("FORCE");
  if (AtName() || Here().kind == TokenKind::kString) {
    ASSIGN_OR_RETURN(prepare.name, NameOrString("the prepared statement"));
    if (!Accept("FROM") && !Accept("AS")) return Unexpected(Expected("FROM or AS"));
  }
  ASSIGN_OR_RETURN(prepare.statement, InnerStatement("prepared", &prepare.text));
  return prepare;
}

Result<ExplainStatement> Parser::Explain() {
  RETURN_IF_ERROR(Expect("EXPLAIN"));
  ExplainStatement explain;
  ASSIGN_OR_RETURN(explain.statement, InnerStatement("explained", &explain.text));
  return explain;
}

Result<std::unique_ptr<Statement>> Parser::InnerStatement(std::string_view outer,
                                                          std::string* text) {
  if (At("PREPARE") || At("EXPLAIN")) {
    return Unexpected(Wrong(Here(), fmt::format("this statement can't be {}", outer)));
  }
  const size_t from = place().offset;
  ASSIGN_OR_RETURN(Statement inner, StatementHere());
  const Token& last = tokens_[at_ - 1];
  *text = text_.substr(from, last.place.offset + last.length - from);
  return std::make_unique<Statement>(std::move(inner));
}

Result<ExecuteStatement> Parser::Execute() {
  RETURN_IF_ERROR(Expect("EXECUTE"));
  ExecuteStatement execute;
  execute.place = place();
  ASSIGN_OR_RETURN(execute.name, NameOrString("a prepared statement"));
  if (!Accept("USING")) return execute;
  if (!At("[") && !At("{")) {
    return Unexpected(Expected("[ and positional arguments, or { and named ones"));
  }
  ASSIGN_OR_RETURN(execute.using_arguments, At("[") ? ArrayConstructor() : ObjectConstructor());
  return execute;
}

// A path is a keyspace; in parentheses, or anything else, it is an expression.
Result<InferStatement> Parser::Infer() {
  InferStatement infer;
  infer.place = place();
  RETURN_IF_ERROR(Expect("INFER"));
  const bool keyspace = Accept("KEYSPACE") || Accept("COLLECTION") || AtNamespace();
  if (keyspace || (AtName() && !IsAhead(1, "("))) {
    ASSIGN_OR_RETURN(infer.keyspace, Keyspace());
  } else {
    ASSIGN_OR_RETURN(infer.expression, Expr());
  }
  RETURN_IF_ERROR(WithOptions(&infer.with));
  return infer;
}

Result<TransactionStatement> Parser::Transaction() {
  using Action = TransactionStatement::Action;
  TransactionStatement transaction;
  const auto skip_noun = [&] {
    if (!Accept("WORK") && !Accept("TRAN")) Accept("TRANSACTION");
  };
  if (Accept("BEGIN") || Accept("START")) {
    skip_noun();
    if (At("ISOLATION")) RETURN_IF_ERROR(IsolationLevel());
  } else if (Accept("COMMIT")) {
    transaction.action = Action::kCommit;
    skip_noun();
  } else if (Accept("ROLLBACK")) {
    transaction.action = Action::kRollback;
    skip_noun();
    if (Accept("TO")) {
      RETURN_IF_ERROR(Expect("SAVEPOINT"));
      transaction.action = Action::kRollbackTo;
      ASSIGN_OR_RETURN(transaction.savepoint, Name("a savepoint"));
    }
  } else if (Accept("SAVEPOINT")) {
    transaction.action = Action::kSavepoint;
    ASSIGN_OR_RETURN(transaction.savepoint, Name("a savepoint"));
  } else {
    RETURN_IF_ERROR(Expect("SET"));
    if (!Accept("TRANSACTION")) {
      return Unexpected(
          Expected("TRANSACTION (other things are SET for a connection, by sluice sql "
                   "or at /query/stream, and are parameters of a request elsewhere)"));
    }
    transaction.action = Action::kSet;
    RETURN_IF_ERROR(IsolationLevel());
  }
  return transaction;
}

Status Parser::IsolationLevel() {
  RETURN_IF_ERROR(Expect("ISOLATION"));
  RETURN_IF_ERROR(Expect("LEVEL"));
  if (!Accept("READ", "COMMITTED")) return Expected("READ COMMITTED");
  return OkStatus();
}

// UPDATE STATISTICS [FOR] k or ANALYZE [KEYSPACE | COLLECTION] k, then what of it:
// (expressions), INDEX (names), INDEX ALL, DELETE (expressions), DELETE ALL. Or UPDATE STATISTICS
// FOR INDEX, ANALYZE INDEX: name ON k, or k.name. [USING GSI] WITH options.
Result<StatisticsStatement> Parser::Statistics() {
  if (Accept("UPDATE", "STATISTICS")) {
    Accept("FOR");
  } else {
    RETURN_IF_ERROR(Expect("ANALYZE"));
    if (!Accept("KEYSPACE")) Accept("COLLECTION");
  }
  StatisticsStatement statistics;
  std::string name;
  if (Accept("INDEX")) {
    RETURN_IF_ERROR(IndexName(&name, &statistics.keyspace));
    if (statistics.keyspace.parts.empty()) RETURN_IF_ERROR(Expect("ON"));
  }
  if (statistics.keyspace.parts.empty()) {
    ASSIGN_OR_RETURN(statistics.keyspace, Keyspace());
  }
  const bool all = (Accept("INDEX") || Accept("DELETE")) && Accept("ALL");
  if (!all && Accept("(")) {
    ASSIGN_OR_RETURN(const Expressions ignored, ExprList());
    RETURN_IF_ERROR(Expect(")"));
  }
  std::string kind;
  RETURN_IF_ERROR(UsingIndexKind(&kind));
  std::optional<json::Value> options;
  RETURN_IF_ERROR(WithOptions(&options));
  return statistics;
}

}  // namespace sluice::query
