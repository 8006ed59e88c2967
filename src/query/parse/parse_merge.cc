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

// With ON KEY the key is known: INSERT document. Otherwise INSERT (KEY k, VALUE v [, OPTIONS o]).
Status Parser::MergeInsert(MergeStatement* merge) {
  const Token& action = Here();
  RETURN_IF_ERROR(Expect("INSERT"));
  if (merge->has_insert) return Wrong(action, "MERGE has an INSERT already");
  merge->has_insert = true;
  const bool keyed = At("(") && (IsAhead(1, "KEY") || IsAhead(1, "PRIMARY"));
  if (keyed && merge->on_key) {
    return Wrong(Here(), "ON KEY says the key already: expected the document alone");
  }
  if (!keyed && !merge->on_key) return Expected("(KEY ..., VALUE ...)");
  if (keyed) {
    ASSIGN_OR_RETURN(KeyValueOptions named, KeyValue());
    merge->insert_key = std::move(named.key);
    merge->insert_value = std::move(named.value);
    merge->insert_options = std::move(named.options);
  } else {
    ASSIGN_OR_RETURN(merge->insert_value, Expr());
  }
  return WhereClause(&merge->insert_where);
}

}  // namespace sluice::query
