// FROM: terms with their aliases and hints, joins, keyspaces.
#include "query/parse/parser_impl.h"

namespace sluice::query {
namespace {

// The last step of a path names what it leads to.
std::string AliasOfPath(const Expression& path) {
  const bool named = path.kind == ExprKind::kName || path.kind == ExprKind::kField;
  return named ? path.name : "";
}

}  // namespace

Result<FromClause> Parser::From() {
  RETURN_IF_ERROR(Expect("FROM"));
  FromClause from;
  ASSIGN_OR_RETURN(from.first, Term());
  while (AtJoin()) {
    ASSIGN_OR_RETURN(JoinClause join, Join());
    from.joins.push_back(std::move(join));
  }
  return from;
}

// namespace: before a keyspace; `system` is a reserved word elsewhere.
bool Parser::AtNamespace() const { return (AtName() || At("SYSTEM")) && IsAhead(1, ":"); }

Result<FromTerm> Parser::Term() {
  FromTerm term;
  term.place = place();
  term.lateral = Accept("LATERAL");
  if (AtNamespace()) {
    ASSIGN_OR_RETURN(term.keyspace, Keyspace());
    term.alias = term.keyspace->parts.back();
  } else {
    ASSIGN_OR_RETURN(term.expression, Expr());
    term.alias = AliasOfPath(*term.expression);
  }
  RETURN_IF_ERROR(TermAlias(&term));
  RETURN_IF_ERROR(UseClauses(&term));
  return term;
}

Status Parser::TermAlias(FromTerm* term) {
  ASSIGN_OR_RETURN(std::string alias, OptionalAlias());
  if (alias.empty()) return OkStatus();
  term->alias = std::move(alias);
  term->explicit_alias = true;
  return OkStatus();
}

Status Parser::UseClauses(FromTerm* term) {
  while (Accept("USE")) {
    size_t hints = 0;
    for (;; ++hints) {
      if (At("KEYS") || At("PRIMARY")) {
        RETURN_IF_ERROR(UseKeys(term));
      } else if (Accept("INDEX")) {
        RETURN_IF_ERROR(UseIndex(term));
      } else if (Accept("NL")) {
        term->join_method = JoinMethodHint::kNestedLoop;
      } else if (Accept("HASH")) {
        RETURN_IF_ERROR(Expect("("));
        if (!At("BUILD") && !At("PROBE")) return Expected("BUILD or PROBE");
        term->join_method = At("BUILD") ? JoinMethodHint::kHashBuild : JoinMethodHint::kHashProbe;
        ++at_;
        RETURN_IF_ERROR(Expect(")"));
      } else {
        break;
      }
    }
    if (hints == 0) return Expected("KEYS, INDEX, HASH or NL after USE");
  }
  return OkStatus();
}

Status Parser::UseKeys(FromTerm* term) {
  if (term->use_keys) return Wrong(Here(), "USE KEYS was given already");
  Accept("PRIMARY");
  RETURN_IF_ERROR(Expect("KEYS"));
  KeyHint hint;
  hint.validate = Accept("VALIDATE");
  ASSIGN_OR_RETURN(hint.keys, Expr());
  term->use_keys = std::move(hint);
  return OkStatus();
}

Status Parser::UseIndex(FromTerm* term) {
  RETURN_IF_ERROR(Expect("("));
  do {
    IndexHint hint;
    if (AtName()) {
      ASSIGN_OR_RETURN(hint.name, Name("an index"));
    }
    RETURN_IF_ERROR(UsingIndexKind(&hint.using_kind));
    if (hint.name.empty() && hint.using_kind.empty()) return Expected("the name of an index");
    term->use_index.push_back(std::move(hint));
  } while (Accept(","));
  return Expect(")");
}

bool Parser::AtJoin() const {
  if (comdb2() && AtWord("CROSS") && IsAhead(1, "JOIN")) return true;
  return At(",") || At("JOIN") || At("INNER") || At("LEFT") || At("RIGHT") || At("NEST") ||
         At("UNNEST") || At("FLATTEN");
}

Result<JoinClause> Parser::Join() {
  JoinClause join;
  if (Accept(",")) {
    join.comma = true;
    ASSIGN_OR_RETURN(join.term, Term());
    return join;
  }
  const Token& start = Here();
  const bool cross = comdb2() && AcceptWord("CROSS");
  if (Accept("LEFT")) {
    join.type = JoinType::kLeft;
    Accept("OUTER");
  } else if (Accept("RIGHT")) {
    join.type = JoinType::kRight;
    Accept("OUTER");
  } else {
    Accept("INNER");
  }
  if (Accept("UNNEST") || Accept("FLATTEN")) {
    join.kind = JoinKind::kUnnest;
  } else if (Accept("NEST")) {
    join.kind = JoinKind::kNest;
  } else if (!Accept("JOIN")) {
    return Unexpected(Expected("JOIN, NEST or UNNEST"));
  }
  if (join.type == JoinType::kRight && join.kind != JoinKind::kJoin) {
    return Unexpected(Wrong(start, "only a JOIN can be RIGHT"));
  }
  ASSIGN_OR_RETURN(join.term, Term());
  if (comdb2() && join.kind == JoinKind::kJoin && (cross || !At("ON"))) {
    if (join.type != JoinType::kInner) return Unexpected(Expected("ON and the join's condition"));
    join.comma = true;  // all pairs
    return join;
  }
  if (join.kind != JoinKind::kUnnest) RETURN_IF_ERROR(JoinCondition(&join));
  return join;
}

Status Parser::JoinCondition(JoinClause* join) {
  if (!At("ON")) return Expected("ON and the condition of the join");
  ++at_;
  const bool primary = Accept("PRIMARY");
  if (Accept("KEYS")) {
    ASSIGN_OR_RETURN(join->on_keys, Expr());
  } else if (Accept("KEY")) {
    ASSIGN_OR_RETURN(join->on_key, Expr());
    RETURN_IF_ERROR(Expect("FOR"));
    ASSIGN_OR_RETURN(join->on_key_for, Name("an alias before this join"));
  } else if (primary) {
    return Expected("KEY or KEYS");
  } else {
    ASSIGN_OR_RETURN(join->on, Expr());
  }
  return OkStatus();
}

// [namespace:]a[.b[.c]]
Result<KeyspacePath> Parser::Keyspace() {
  KeyspacePath path;
  path.place = place();
  if (AtNamespace()) {
    path.name_space = TakeNameText();
    ++at_;
  }
  ASSIGN_OR_RETURN(std::string part, Name("a keyspace"));
  path.parts.push_back(std::move(part));
  while (Accept(".")) {
    const Token& token = Here();
    ASSIGN_OR_RETURN(part, FieldName());
    if (part.empty()) return Unexpected(Wrong(token, "a name can't be empty"));
    path.parts.push_back(std::move(part));
  }
  return path;
}

Result<FromTerm> Parser::Target() {
  FromTerm term;
  term.place = place();
  ASSIGN_OR_RETURN(term.keyspace, Keyspace());
  term.alias = term.keyspace->parts.back();
  RETURN_IF_ERROR(TermAlias(&term));
  RETURN_IF_ERROR(UseClauses(&term));
  return term;
}

}  // namespace sluice::query
