// Tables: keyspaces of the system bucket `_tables` that have a schema.
#include <algorithm>
#include <utility>

#include "db/catalog_edit.h"
#include "db/catalog_rows.h"

namespace sluice::db {
namespace {

constexpr std::string_view kSystemTablePrefix = "comdb2_";

Status NoTable(std::string_view table) {
  return Error(Code::kNotFound, "table.not_found", "there is no table '{}'", table);
}

IndexDefinition IndexOf(const TableSchema& schema, const TableKey& key) {
  IndexDefinition definition;
  definition.name = key.name;
  definition.unique = key.unique;
  definition.many_nulls = key.many_nulls;
  for (const TableKeyPart& part : key.parts) {
    definition.parts.push_back({.path = schema.FindColumn(part.column)->name,
                                .descending = part.descending,
                                .include_missing = definition.parts.empty()});
  }
  return definition;
}

// Whether the table has a key of exactly these columns, so that a foreign key may refer to them.
bool HasKeyOf(const TableSchema& schema, const std::vector<std::string>& columns) {
  const auto is_part = [&](const TableKeyPart& part) {
    return std::ranges::any_of(
        columns, [&](const std::string& column) { return SameColumnName(part.column, column); });
  };
  return std::ranges::any_of(schema.keys, [&](const TableKey& key) {
    return key.parts.size() == columns.size() && std::ranges::all_of(key.parts, is_part);
  });
}

}  // namespace

void CatalogEdit::PutTablesBucket() {
  const std::string bucket(kTablesBucket);
  if (next_->buckets_.contains(bucket)) return;
  next_->buckets_[bucket].scopes[std::string(kDefaultName)] = {};
  PutRow(BucketRowKey(bucket), EncodeMetaJson(json::Value::EmptyObject()));
  PutRow(ScopeRowKey(bucket, kDefaultName), EncodeMetaJson(json::Value::EmptyObject()));
}

// In statements a single name is a table or a bucket, so a name can't be both.
Status CatalogEdit::CheckFreeName(const std::string& name) const {
  RETURN_IF_ERROR(CheckName("table", name));
  if (name.front() == '_' || name.front() == '%' ||
      SameColumnName(name.substr(0, kSystemTablePrefix.size()), kSystemTablePrefix)) {
    return Error(Code::kInvalidArgument, "keyspace.invalid_name",
                 "a table name can't begin with '_', '%' or 'comdb2_': such names are the system's,"
                 " got '{}'",
                 name);
  }
  if (next_->FindTable(name) != nullptr) {
    return Error(Code::kAlreadyExists, "table.exists", "table '{}' exists already", name);
  }
  if (next_->buckets_.contains(name)) {
    return Error(Code::kAlreadyExists, "bucket.exists", "there is a bucket '{}'", name);
  }
  return OkStatus();
}

Status CatalogEdit::CreateTable(TableSchema schema) {
  RETURN_IF_ERROR(CheckFreeName(schema.name));
  RETURN_IF_ERROR(schema.Check());
  PutTablesBucket();
  KeyspaceInfo info;
  info.name = TableKeyspace(schema.name);
  const auto table = std::make_shared<const TableSchema>(std::move(schema));
  info.table = table;
  RETURN_IF_ERROR(CreateKeyspace(std::move(info)));
  const KeyspaceName name = TableKeyspace(table->name);
  ASSIGN_OR_RETURN(const auto keyspace, next_->Resolve(name));
  for (const TableKey& key : table->keys) {
    ASSIGN_OR_RETURN(const IndexId id, CreateIndex(name, IndexOf(*table, key)));
    SetIndexState(keyspace->id, id, Index::State::kReady);  // there are no rows yet
  }
  return OkStatus();
}

Status CatalogEdit::DropTable(const std::string& table) {
  const auto keyspace = next_->FindTable(table);
  if (keyspace == nullptr) return NoTable(table);
  for (const auto& [id, other] : next_->keyspaces_) {
    if (other->table == nullptr || id == keyspace->id) continue;
    for (const TableReference& reference : other->table->references) {
      if (!SameColumnName(reference.table, table)) continue;
      return Error(Code::kConflict, "table.referenced",
                   "table '{}' can't be dropped: the foreign key '{}' of '{}' refers to it", table,
                   reference.name, other->table->name);
    }
  }
  const KeyspaceName name = keyspace->name;
  DropKeyspace(keyspace->id);
  next_->buckets_[name.bucket].scopes[name.scope].collections.erase(name.collection);
  return OkStatus();
}

Status CatalogEdit::SetTableSchema(TableSchema schema) {
  const auto keyspace = next_->FindTable(schema.name);
  if (keyspace == nullptr) return NoTable(schema.name);
  RETURN_IF_ERROR(schema.Check());
  KeyspaceInfo changed = *keyspace;
  schema.name = keyspace->table->name;
  changed.table = std::make_shared<const TableSchema>(std::move(schema));
  PutKeyspace(std::move(changed));
  return OkStatus();
}

// The schema without this key; the same schema if it has no such key. Refused while a foreign key
// refers to the key.
Result<std::shared_ptr<const TableSchema>> CatalogEdit::TableWithoutKey(
    const TableSchema& table, const std::string& name) const {
  TableSchema changed = table;
  std::erase_if(changed.keys, [&](const TableKey& key) { return SameColumnName(key.name, name); });
  for (const auto& [id, other] : next_->keyspaces_) {
    if (other->table == nullptr) continue;
    for (const TableReference& reference : other->table->references) {
      if (!SameColumnName(reference.table, table.name) ||
          HasKeyOf(changed, reference.their_columns)) {
        continue;
      }
      return Fail(Code::kConflict, "table.referenced",
                  "table '{}': the key '{}' can't be dropped: the foreign key '{}' of '{}' refers "
                  "to it",
                  table.name, name, reference.name, other->table->name);
    }
  }
  return std::make_shared<const TableSchema>(std::move(changed));
}

// Foreign keys that refer to the table get its new name.
Status CatalogEdit::RenameTable(const std::string& table, const std::string& to) {
  const auto keyspace = next_->FindTable(table);
  if (keyspace == nullptr) return NoTable(table);
  if (!SameColumnName(table, to)) RETURN_IF_ERROR(CheckFreeName(to));
  auto& collections =
      next_->buckets_[keyspace->name.bucket].scopes[keyspace->name.scope].collections;
  collections.erase(keyspace->name.collection);
  collections[to] = keyspace->id;
  const auto keyspaces = next_->keyspaces_;
  for (const auto& [id, other] : keyspaces) {
    if (other->table == nullptr) continue;
    TableSchema schema = *other->table;
    if (id == keyspace->id) schema.name = to;
    for (TableReference& reference : schema.references) {
      if (SameColumnName(reference.table, table)) reference.table = to;
    }
    if (schema == *other->table) continue;
    KeyspaceInfo changed = *other;
    changed.name = TableKeyspace(schema.name);
    changed.table = std::make_shared<const TableSchema>(std::move(schema));
    PutKeyspace(std::move(changed));
  }
  return OkStatus();
}

}  // namespace sluice::db
