// Creates, changes and drops tables, and rewrites their rows after a change.
#include <utility>

#include "base/bytes.h"
#include "db/database_impl.h"
#include "db/row.h"
#include "json/parse.h"

namespace sluice::db {
namespace {

constexpr size_t kRewriteChunkRows = 512;

// The row in the form of the present schema: the columns in order; a column that it lacks gets the
// value that rows have which are older than the column.
Result<std::string> RewrittenRow(const TableSchema& schema, std::string_view body) {
  ASSIGN_OR_RETURN(const json::Value row, json::Parse(body));
  std::vector<json::Value> stored;
  for (const TableColumn& column : schema.columns) {
    const json::Value& present = row[column.name];
    if (!present.is_missing()) {
      stored.push_back(present);
    } else {
      stored.push_back(column.added.value_or(json::Value(nullptr)));
    }
  }
  return RowText(schema, stored);
}

}  // namespace

Status CatalogAdmin::CreateTable(TableSchema schema) {
  return impl_->ChangeCatalog(
      [&](CatalogEdit& edit) { return edit.CreateTable(std::move(schema)); });
}

Status CatalogAdmin::DropTable(const std::string& table) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropTable(table); });
}

Status CatalogAdmin::RenameTable(const std::string& table, const std::string& to) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.RenameTable(table, to); });
}

// Readers see the same rows before and after the rewriting. It also runs before the change: a new
// column with the name of a dropped one must not find the old column's values.
Status CatalogAdmin::AlterTable(TableSchema schema) {
  const std::string name = schema.name;
  const auto before = impl_->CurrentCatalog()->FindTable(name);
  if (before == nullptr) {
    return Error(Code::kNotFound, "table.not_found", "there is no table '{}'", name);
  }
  RETURN_IF_ERROR(impl_->CheckOwnsAll());
  RETURN_IF_ERROR(impl_->RewriteTable(before->id));
  RETURN_IF_ERROR(impl_->ChangeCatalog(
      [&](CatalogEdit& edit) { return edit.SetTableSchema(std::move(schema)); }));
  return impl_->RewriteTable(before->id);
}

Status DatabaseImpl::RewriteTable(KeyspaceId table) {
  std::string from;
  bool more = true;
  while (more) {
    ASSIGN_OR_RETURN(more, RewriteChunk(table, &from));
  }
  return OkStatus();
}

// Runs between two groups, so that no commit sees a part of it. Rows keep their version, because
// nothing has changed for their readers.
Result<bool> DatabaseImpl::RewriteChunk(KeyspaceId table, std::string* from) {
  bool more = false;
  RETURN_IF_ERROR(committers[kTablesShard]->Run([&](Committer::TaskContext& context) -> Status {
    const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
    const KeyspaceInfo* keyspace = catalog->Find(table);
    if (keyspace == nullptr || keyspace->table == nullptr) return OkStatus();
    const std::string prefix = KeyspacePrefix(0, table);
    storage::IterateOptions options;
    options.lower = prefix + *from;
    options.upper = PrefixEnd(prefix);
    options.fill_cache = false;
    const auto iterator = store->NewIterator(storage::Family::kDocs, std::move(options));
    size_t rows = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      if (++rows > kRewriteChunkRows) break;
      *from = std::string(iterator->key().substr(kDocumentKeyPrefixBytes)) + '\0';
      ASSIGN_OR_RETURN(DocumentView view, DecodeDocument(iterator->value()));
      if (view.tombstone) continue;
      ASSIGN_OR_RETURN(const std::string body, RewrittenRow(*keyspace->table, view.body));
      if (body == view.body) continue;
      view.body = body;
      context.batch.Put(storage::Family::kDocs, iterator->key(), EncodeDocumentHeader(view) + body);
    }
    RETURN_IF_ERROR(iterator->status());
    more = iterator->Valid();
    return OkStatus();
  }));
  return more;
}

}  // namespace sluice::db
