// MERGE.
#include "query/parse/parser_impl.h"

namespace sluice::query {

Result<MergeStatement> Parser::Merge() {
  RETURN_IF_ERROR(Expect("MERGE"));
  RETURN_IF_ERROR(Expect("INTO"));
  MergeStatement merge;
  ASSIGN_OR_RETURN(merge.target, Target());
  RETURN_IF_ERROR(Expect("USING"));
  ASSIGN_OR_RETURN(merge.source, Term());
  RETURN_IF_ERROR(Expect("ON"));
  const bool primary = Accept("PRIMARY");
  if (primary && !At("KEY")) return Unexpected(Expected("KEY"));
  ExpressionPtr* const condition = Accept("KEY") ? &merge.on_key : &merge.on;
  ASSIGN_OR_RETURN(*condition, Expr());
  if (Accept("LET")) {
    ASSIGN_OR_RETURN(merge.let, Assignments());
  }
  if (!At("WHEN")) return Unexpected(Expected("WHEN MATCHED or WHEN NOT MATCHED"));
  while (Accept("WHEN")) RETURN_IF_ERROR(MergeAction(&merge));
  if (Accept("LIMIT")) {
    ASSIGN_OR_RETURN(merge.limit, Expr());
  }
  RETURN_IF_ERROR(Returning(&merge.returning));
  return merge;
}

// After WHEN: [NOT] MATCHED THEN and what to do.
Status Parser::MergeAction(MergeStatement* merge) {
  const bool insert = Accept("NOT");
  if (!At("MATCHED")) return Expected(insert ? "MATCHED" : "MATCHED or NOT MATCHED");
  ++at_;
  RETURN_IF_ERROR(Expect("THEN"));
  return insert ? MergeInsert(merge) : MergeMatched(merge);
}

Status Parser::MergeMatched(MergeStatement* merge) {
  const Token& action = Here();
  if (Accept("UPDATE")) {
    if (merge->has_update) return Wrong(action, "MERGE has an UPDATE already");
    merge->has_update = true;
    if (!At("SET") && !At("UNSET")) return Expected("SET or UNSET");
    RETURN_IF_ERROR(SetClause(&merge->set));
    RETURN_IF_ERROR(UnsetClause(&merge->unset));
    return WhereClause(&merge->update_where);
  }
  if (!Accept("DELETE")) return Expected("UPDATE or DELETE");
  if (merge->has_delete) return Wrong(action, "MERGE has a DELETE already");
  merge->has_delete = true;
  return WhereClause(&merge->delete_where);
}

// ([KEY] k [, [VALUE] v [, [OPTIONS] o]])
Result<Parser::KeyValueOptions> Parser::MergeKeyValue() {
  KeyValueOptions parts;
  RETURN_IF_ERROR(Expect("("));
  Accept("PRIMARY");
  Accept("KEY");
  ASSIGN_OR_RETURN(parts.key, Expr());
  if (At(",") && !IsAhead(1, "OPTIONS")) {
    ++at_;
    Accept("VALUE");
    ASSIGN_OR_RETURN(parts.value, Expr());
  }
  if (Accept(",")) {
    Accept("OPTIONS");
    ASSIGN_OR_RETURN(parts.options, Expr());
  }
  RETURN_IF_ERROR(Expect(")"));
  return parts;
}

// With ON KEY the key is known: INSERT document. Otherwise it comes first, in parentheses.
Status Parser::MergeInsert(MergeStatement* merge) {
  const Token& action = Here();
  RETURN_IF_ERROR(Expect("INSERT"));
  if (merge->has_insert) return Wrong(action, "MERGE has an INSERT already");
  merge->has_insert = true;
  const bool keyed = At("(") && (IsAhead(1, "KEY") || IsAhead(1, "PRIMARY"));
  if (keyed && merge->on_key) {
    return Wrong(Here(), "ON KEY already gives the key: expected only the document");
  }
  if (merge->on_key) {
    ASSIGN_OR_RETURN(merge->insert_value, Expr());
    return WhereClause(&merge->insert_where);
  }
  if (!At("(")) return Expected("(KEY ..., VALUE ...)");
  ASSIGN_OR_RETURN(KeyValueOptions parts, MergeKeyValue());
  merge->insert_key = std::move(parts.key);
  merge->insert_value = std::move(parts.value);
  merge->insert_options = std::move(parts.options);
  return WhereClause(&merge->insert_where);
}

}  // namespace sluice::query
