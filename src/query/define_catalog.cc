// Buckets, scopes and collections.
#include <utility>

#include "query/definitions.h"
#include "query/error.h"

namespace sluice::query {
namespace {

struct CatalogName {
  std::string bucket;
  std::string scope;
  std::string collection;
};

std::string_view ObjectName(CatalogObject object) {
  static constexpr std::string_view kNames[] = {"bucket", "scope", "collection"};
  return kNames[static_cast<size_t>(object)];
}

// How many parts the name has depends on the object; the query context completes it.
Result<CatalogName> NameOf(const QueryContext& context, const CatalogStatement& statement) {
  const auto& parts = statement.name.parts;
  const auto fail = [&](std::string_view expected) {
    return AtPlace(QueryError(QueryCode::kSyntax, "the name of a {} is {}",
                              ObjectName(statement.object), expected),
                   statement.place);
  };
  switch (statement.object) {
    case CatalogObject::kBucket:
      if (parts.size() != 1) return Unexpected(fail("one word"));
      return CatalogName{.bucket = parts[0]};
    case CatalogObject::kScope:
      if (parts.size() == 2) return CatalogName{.bucket = parts[0], .scope = parts[1]};
      if (parts.size() == 1 && !context.bucket.empty()) {
        return CatalogName{.bucket = context.bucket, .scope = parts[0]};
      }
      return Unexpected(fail("bucket.scope"));
    case CatalogObject::kCollection:
      break;
  }
  if (parts.size() == 3) return CatalogName{parts[0], parts[1], parts[2]};
  if (parts.size() == 1 && !context.bucket.empty()) {
    return CatalogName{context.bucket, context.scope, parts[0]};
  }
  return Unexpected(fail("bucket.scope.collection"));
}

// {"maxTTL": seconds} of a collection; other options are errors.
Result<uint64_t> MaxExpiryOf(const CatalogStatement& statement) {
  if (!statement.with) return 0;
  uint64_t expiry_ms = 0;
  for (const json::Field& field : statement.with->fields()) {
    const bool known = field.name() == "maxTTL" || field.name() == "max_expiry";
    if (!known || statement.object != CatalogObject::kCollection || !field.value.is_int() ||
        field.value.AsInt() < 0) {
      return Unexpected(
          AtPlace(QueryError(QueryCode::kBadParameter,
                             "WITH: expected {{\"maxTTL\": seconds}} of a collection, got \"{}\"",
                             field.name()),
                  statement.place));
    }
    expiry_ms = static_cast<uint64_t>(field.value.AsInt()) * 1000;
  }
  return expiry_ms;
}

Status Create(db::Database& database, const CatalogName& name, const CatalogStatement& statement) {
  ASSIGN_OR_RETURN(const uint64_t max_expiry_ms, MaxExpiryOf(statement));
  switch (statement.object) {
    case CatalogObject::kBucket:
      return database.admin().CreateBucket(name.bucket);
    case CatalogObject::kScope:
      return database.admin().CreateScope(name.bucket, name.scope);
    case CatalogObject::kCollection:
      break;
  }
  return database.admin().CreateCollection({name.bucket, name.scope, name.collection},
                                           max_expiry_ms);
}

Status Drop(db::Database& database, const CatalogName& name, CatalogObject object) {
  switch (object) {
    case CatalogObject::kBucket:
      return database.admin().DropBucket(name.bucket);
    case CatalogObject::kScope:
      return database.admin().DropScope(name.bucket, name.scope);
    case CatalogObject::kCollection:
      break;
  }
  return database.admin().DropCollection({name.bucket, name.scope, name.collection});
}

Status Flush(db::Database& database, const CatalogName& name, const CatalogStatement& statement) {
  if (statement.object == CatalogObject::kScope) {
    return AtPlace(QueryError(QueryCode::kSyntax, "FLUSH takes a collection"), statement.place);
  }
  if (statement.object == CatalogObject::kBucket) {
    return database.admin().FlushCollection({.bucket = name.bucket});
  }
  return database.admin().FlushCollection({name.bucket, name.scope, name.collection});
}

Status Alter(db::Database& database, const CatalogName& name, const CatalogStatement& statement) {
  if (statement.object != CatalogObject::kCollection) {
    return AtPlace(QueryError(QueryCode::kSyntax,
                              "ALTER takes a collection: of a {} nothing can "
                              "be changed",
                              ObjectName(statement.object)),
                   statement.place);
  }
  ASSIGN_OR_RETURN(const uint64_t max_expiry_ms, MaxExpiryOf(statement));
  return database.admin().SetMaxExpiry({name.bucket, name.scope, name.collection}, max_expiry_ms);
}

// The database's error under the number that SQL++ clients know.
Status Numbered(const Status& status, const CatalogStatement& statement) {
  const std::string& id = status.id();
  QueryCode code = QueryCode::kInternal;
  if (id == "bucket.exists") code = QueryCode::kBucketExists;
  if (id == "table.exists") code = QueryCode::kTableExists;
  if (id == "scope.exists") code = QueryCode::kScopeExists;
  if (id == "collection.exists") code = QueryCode::kCollectionExists;
  if (id == "bucket.not_found") code = QueryCode::kBucketNotFound;
  if (id == "scope.not_found") code = QueryCode::kScopeNotFound;
  if (id == "collection.not_found") code = QueryCode::kKeyspaceNotFound;
  if (code == QueryCode::kInternal && status.code() == Code::kInvalidArgument) {
    code = QueryCode::kSyntax;
  }
  if (code == QueryCode::kInternal) return status;
  return AtPlace(QueryError(code, "{}", status.message()), statement.place);
}

// TRUNCATE looks at no row, so none may be referred to.
Status CheckNotReferenced(const db::Catalog& catalog, const db::TableSchema& table) {
  for (const auto& [id, keyspace] : catalog.keyspaces()) {
    if (keyspace->table == nullptr || keyspace->table->name == table.name) continue;
    for (const db::TableReference& reference : keyspace->table->references) {
      if (!db::SameColumnName(reference.table, table.name)) continue;
      return QueryError(QueryCode::kForeignKey,
                        "table '{}' can't be truncated: the foreign key '{}' of '{}' refers to it; "
                        "use DELETE",
                        table.name, reference.name, keyspace->table->name);
    }
  }
  return OkStatus();
}

// The scope and the collection _default exist as long as their bucket, but users can't create
// things with that name.
bool Exists(const db::Catalog& catalog, const CatalogName& name, CatalogObject object) {
  const auto bucket = catalog.buckets().find(name.bucket);
  if (bucket == catalog.buckets().end()) return false;
  if (object == CatalogObject::kBucket) return true;
  const auto scope = bucket->second.scopes.find(name.scope);
  if (scope == bucket->second.scopes.end()) return false;
  return object == CatalogObject::kScope || scope->second.collections.contains(name.collection);
}

// Whether IF EXISTS or IF NOT EXISTS ignores this error.
bool Forgiven(const Status& status, const CatalogStatement& statement) {
  if (!statement.if_clause) return false;
  if (statement.action == CatalogAction::kCreate) return status.code() == Code::kAlreadyExists;
  return status.code() == Code::kNotFound;
}

}  // namespace

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const CatalogStatement& statement) {
  if (statement.action == CatalogAction::kFlush && statement.name.parts.size() == 1) {
    if (const auto table = database.catalog()->FindTable(statement.name.parts[0])) {
      RETURN_IF_ERROR(CheckNotReferenced(*database.catalog(), *table->table));
      RETURN_IF_ERROR(database.admin().FlushCollection(table->name));
      return std::vector<json::Value>{};
    }
  }
  ASSIGN_OR_RETURN(const CatalogName name, NameOf(context, statement));
  const bool create = statement.action == CatalogAction::kCreate;
  if (create && statement.if_clause && Exists(*database.catalog(), name, statement.object)) {
    return Defined();
  }
  Status status;
  switch (statement.action) {
    case CatalogAction::kCreate:
      status = Create(database, name, statement);
      break;
    case CatalogAction::kDrop:
      status = Drop(database, name, statement.object);
      break;
    case CatalogAction::kFlush:
      status = Flush(database, name, statement);
      break;
    case CatalogAction::kAlter:
      status = Alter(database, name, statement);
      break;
  }
  if (!status.ok() && !Forgiven(status, statement)) return Unexpected(Numbered(status, statement));
  return std::vector<json::Value>{};
}

}  // namespace sluice::query
