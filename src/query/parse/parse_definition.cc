// Indexes, buckets, scopes and collections.
#include "query/parse/parser_impl.h"

namespace sluice::query {

Status Parser::Create(Statement* statement) {
  if (IsAhead(1, "TABLE")) {
    ASSIGN_OR_RETURN(statement->body, CreateTable());
  } else if (IsAhead(1, "INDEX") || IsAhead(1, "PRIMARY") || IsAhead(1, "UNIQUE")) {
    ASSIGN_OR_RETURN(statement->body, CreateIndex());
  } else {
    ASSIGN_OR_RETURN(statement->body, Catalog(CatalogAction::kCreate));
  }
  return OkStatus();
}

Status Parser::Drop(Statement* statement) {
  if (IsAhead(1, "TABLE")) {
    ASSIGN_OR_RETURN(statement->body, DropTable());
  } else if (IsAhead(1, "INDEX") || IsAhead(1, "PRIMARY")) {
    ASSIGN_OR_RETURN(statement->body, DropIndex());
  } else {
    ASSIGN_OR_RETURN(statement->body, Catalog(CatalogAction::kDrop));
  }
  return OkStatus();
}

Status Parser::Alter(Statement* statement) {
  if (IsAhead(1, "TABLE")) {
    ASSIGN_OR_RETURN(statement->body, AlterTable());
  } else if (IsAhead(1, "INDEX")) {
    ASSIGN_OR_RETURN(statement->body, AlterIndex());
  } else {
    ASSIGN_OR_RETURN(statement->body, Catalog(CatalogAction::kAlter));
  }
  return OkStatus();
}

// IF NOT EXISTS of CREATE, IF EXISTS of DROP: before or after the name.
Result<bool> Parser::IfClause(CatalogAction action) {
  if (!Accept("IF")) return false;
  if (action == CatalogAction::kCreate) RETURN_IF_ERROR(Expect("NOT"));
  RETURN_IF_ERROR(Expect("EXISTS"));
  return true;
}

Status Parser::WithOptions(std::optional<json::Value>* options) {
  if (!Accept("WITH")) return OkStatus();
  const Token& token = Here();
  ASSIGN_OR_RETURN(*options, Constant("an object of options"));
  return (*options)->is_object() ? OkStatus() : Wrong(token, "expected an object of options");
}

Status Parser::UsingIndexKind(std::string* kind) {
  if (!Accept("USING")) return OkStatus();
  if (At("FTS")) return Wrong(Here(), "there are no full-text indexes: expected GSI");
  RETURN_IF_ERROR(Expect("GSI"));
  *kind = "gsi";
  return OkStatus();
}

Result<CreateIndexStatement> Parser::CreateIndex() {
  CreateIndexStatement index;
  index.place = place();
  RETURN_IF_ERROR(Expect("CREATE"));
  index.primary = Accept("PRIMARY");
  index.unique = !index.primary && Accept("UNIQUE");
  RETURN_IF_ERROR(Expect("INDEX"));
  ASSIGN_OR_RETURN(index.if_not_exists, IfClause(CatalogAction::kCreate));
  if (AtName() || !index.primary) {
    ASSIGN_OR_RETURN(index.name, Name("the index"));
  }
  if (!index.if_not_exists) {
    ASSIGN_OR_RETURN(index.if_not_exists, IfClause(CatalogAction::kCreate));
  }
  RETURN_IF_ERROR(Expect("ON"));
  ASSIGN_OR_RETURN(index.keyspace, Keyspace());
  if (!index.primary) {
    RETURN_IF_ERROR(Expect("("));
    do {
      ASSIGN_OR_RETURN(IndexKey key, IndexKeyHere());
      index.keys.push_back(std::move(key));
    } while (Accept(","));
    if (!At(")")) return Unexpected(Expected("ASC, DESC, INCLUDE MISSING, a comma or )"));
    ++at_;
  }
  RETURN_IF_ERROR(CreateIndexOptions(&index));
  return index;
}

Status Parser::CreateIndexOptions(CreateIndexStatement* index) {
  if (Accept("PARTITION")) {
    RETURN_IF_ERROR(Expect("BY"));
    RETURN_IF_ERROR(Expect("HASH"));
    RETURN_IF_ERROR(Expect("("));
    ASSIGN_OR_RETURN(index->partition_by, ExprList());
    RETURN_IF_ERROR(Expect(")"));
  }
  if (!index->primary) RETURN_IF_ERROR(WhereClause(&index->where));
  RETURN_IF_ERROR(UsingIndexKind(&index->using_kind));
  return WithOptions(&index->with);
}

// Couchbase shows array keys in brackets, ((distinct (array ... end))), and takes them so.
Result<IndexKey> Parser::IndexKeyHere() {
  size_t brackets = 0;
  while (IsAhead(brackets, "(")) ++brackets;
  if (!IsAhead(brackets, "DISTINCT") && !IsAhead(brackets, "ALL")) brackets = 0;
  at_ += brackets;
  IndexKey key;
  key.each_element = Accept("ALL");
  key.distinct = Accept("DISTINCT");
  key.each_element |= key.distinct;
  ASSIGN_OR_RETURN(key.expression, Expr());
  for (; brackets > 0; --brackets) RETURN_IF_ERROR(Expect(")"));
  key.expression->distinct |= key.distinct && key.expression->kind == ExprKind::kArrayFor;
  RETURN_IF_ERROR(IndexKeyOrder(&key));
  return key;
}

// ASC or DESC and INCLUDE MISSING, in either order.
Status Parser::IndexKeyOrder(IndexKey* key) {
  key->include_missing = Accept("INCLUDE", "MISSING");
  if (Accept("DESC")) {
    key->descending = true;
  } else {
    Accept("ASC");
  }
  if (!key->include_missing) key->include_missing = Accept("INCLUDE", "MISSING");
  return OkStatus();
}

// name ON keyspace, or keyspace.name.
Status Parser::IndexName(std::string* name, KeyspacePath* keyspace) {
  ASSIGN_OR_RETURN(KeyspacePath path, Keyspace());
  if (path.parts.size() == 1 && path.name_space.empty()) {
    *name = std::move(path.parts[0]);
    return OkStatus();
  }
  if (path.parts.size() == 1) return Expected("a dot and the name of the index");
  *name = std::move(path.parts.back());
  path.parts.pop_back();
  *keyspace = std::move(path);
  return OkStatus();
}

Result<DropIndexStatement> Parser::DropIndex() {
  DropIndexStatement drop;
  drop.place = place();
  RETURN_IF_ERROR(Expect("DROP"));
  drop.primary = Accept("PRIMARY");
  RETURN_IF_ERROR(Expect("INDEX"));
  ASSIGN_OR_RETURN(drop.if_exists, IfClause(CatalogAction::kDrop));
  if (!drop.primary) RETURN_IF_ERROR(IndexName(&drop.name, &drop.keyspace));
  if (!drop.if_exists) {
    ASSIGN_OR_RETURN(drop.if_exists, IfClause(CatalogAction::kDrop));
  }
  if (drop.keyspace.parts.empty()) {
    RETURN_IF_ERROR(Expect("ON"));
    ASSIGN_OR_RETURN(drop.keyspace, Keyspace());
  }
  std::string kind;
  RETURN_IF_ERROR(UsingIndexKind(&kind));
  return drop;
}

Result<AlterIndexStatement> Parser::AlterIndex() {
  AlterIndexStatement alter;
  alter.place = place();
  RETURN_IF_ERROR(Expect("ALTER"));
  RETURN_IF_ERROR(Expect("INDEX"));
  RETURN_IF_ERROR(IndexName(&alter.name, &alter.keyspace));
  if (alter.keyspace.parts.empty()) {
    RETURN_IF_ERROR(Expect("ON"));
    ASSIGN_OR_RETURN(alter.keyspace, Keyspace());
  }
  std::string kind;
  RETURN_IF_ERROR(UsingIndexKind(&kind));
  if (!At("WITH")) return Unexpected(Expected("WITH and the changes"));
  RETURN_IF_ERROR(WithOptions(&alter.with));
  return alter;
}

Result<BuildIndexStatement> Parser::BuildIndex() {
  BuildIndexStatement build;
  build.place = place();
  RETURN_IF_ERROR(Expect("BUILD"));
  RETURN_IF_ERROR(Expect("INDEX"));
  RETURN_IF_ERROR(Expect("ON"));
  ASSIGN_OR_RETURN(build.keyspace, Keyspace());
  RETURN_IF_ERROR(Expect("("));
  ASSIGN_OR_RETURN(build.names, ExprList());
  for (ExpressionPtr& name : build.names) {
    if (name->kind != ExprKind::kName) continue;
    name->kind = ExprKind::kLiteral;
    name->value = json::Value(std::exchange(name->name, ""));
  }
  RETURN_IF_ERROR(Expect(")"));
  std::string kind;
  RETURN_IF_ERROR(UsingIndexKind(&kind));
  return build;
}

// CREATE, DROP or ALTER, and BUCKET, SCOPE or COLLECTION.
Result<CatalogStatement> Parser::Catalog(CatalogAction action) {
  CatalogStatement catalog;
  catalog.place = place();
  catalog.action = action;
  ++at_;
  if (Accept("BUCKET")) {
    catalog.object = CatalogObject::kBucket;
  } else if (action != CatalogAction::kAlter && Accept("SCOPE")) {
    catalog.object = CatalogObject::kScope;
  } else if (!Accept("COLLECTION")) {
    return Unexpected(Expected(action == CatalogAction::kAlter
                                   ? "BUCKET, COLLECTION, TABLE or INDEX"
                                   : "BUCKET, SCOPE, COLLECTION, TABLE, INDEX or PRIMARY INDEX"));
  }
  const bool conditional = action != CatalogAction::kAlter;
  if (conditional) {
    ASSIGN_OR_RETURN(catalog.if_clause, IfClause(action));
  }
  ASSIGN_OR_RETURN(catalog.name, Keyspace());
  if (conditional && !catalog.if_clause) {
    ASSIGN_OR_RETURN(catalog.if_clause, IfClause(action));
  }
  if (action == CatalogAction::kAlter && !At("WITH")) {
    return Unexpected(Expected("WITH and the changes"));
  }
  const bool takes_options =
      action != CatalogAction::kDrop && catalog.object != CatalogObject::kScope;
  if (takes_options) RETURN_IF_ERROR(WithOptions(&catalog.with));
  return catalog;
}

// FLUSH or TRUNCATE [COLLECTION | KEYSPACE] k
Result<CatalogStatement> Parser::Flush() {
  CatalogStatement catalog;
  catalog.place = place();
  catalog.action = CatalogAction::kFlush;
  ++at_;
  if (!Accept("COLLECTION") && !Accept("KEYSPACE")) Accept("TABLE");
  ASSIGN_OR_RETURN(catalog.name, Keyspace());
  return catalog;
}

}  // namespace sluice::query
