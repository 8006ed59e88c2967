// CREATE and DROP TABLE.
#include <utility>

#include "db/row.h"
#include "query/definitions.h"
#include "query/error.h"
#include "query/references.h"
#include "query/table_checks.h"

namespace sluice::query {
namespace {

using Rows = std::vector<json::Value>;

// A default is an expression of constants and functions; NULL is the same as none.
Status CheckDefaults(db::Database& database, db::TableSchema& schema) {
  for (db::TableColumn& column : schema.columns) {
    if (column.default_text.empty()) continue;
    ASSIGN_OR_RETURN(const json::Value value, DefaultOf(database, schema, column));
    if (value.is_null()) {
      column.default_text.clear();
      continue;
    }
    const auto stored = db::StoreColumn(schema, column, value);
    if (!stored) return TableError(stored.error());
  }
  return OkStatus();
}

// CREATE TABLE t LIKE u: all but u's foreign keys.
Result<db::TableSchema> SchemaOf(const db::Catalog& catalog, const db::TableSchema& written) {
  if (!written.columns.empty() || written.references.size() != 1) return written;
  const auto other = catalog.FindTable(written.references[0].table);
  if (other == nullptr) {
    return QueryFail(QueryCode::kKeyspaceNotFound, "there is no table '{}'",
                     written.references[0].table);
  }
  db::TableSchema schema = *other->table;
  schema.name = written.name;
  schema.references.clear();
  for (db::TableColumn& column : schema.columns) column.added.reset();
  return schema;
}

Status CreateTable(db::Database& database, const db::TableSchema& written, Dialect dialect) {
  ASSIGN_OR_RETURN(db::TableSchema schema, SchemaOf(*database.catalog(), written));
  RETURN_IF_ERROR(ResolveKeyNames(*database.catalog(), &schema));
  RETURN_IF_ERROR(schema.Check());
  RETURN_IF_ERROR(CheckReferences(*database.catalog(), schema, dialect));
  RETURN_IF_ERROR(CheckDefaults(database, schema));
  RETURN_IF_ERROR(CheckChecks(schema));
  return database.admin().CreateTable(std::move(schema));
}

DefinitionRows Done(const Status& status, const TextPlace& place) {
  if (!status.ok()) return Unexpected(AtPlace(TableError(status), place));
  return Rows{};
}

}  // namespace

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const CreateTableStatement& statement) {
  const Status status = CreateTable(database, statement.schema, context.dialect);
  if (statement.if_not_exists && status.id() == "table.exists") return Rows{};
  return Done(status, statement.place);
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext&,
                             const DropTableStatement& statement) {
  const Status status = database.admin().DropTable(statement.name);
  if (statement.if_exists && status.id() == "table.not_found") return Rows{};
  return Done(status, statement.place);
}

}  // namespace sluice::query
