// CREATE, DROP, ALTER and RENAME TABLE.
#include <algorithm>
#include <utility>

#include "db/row.h"
#include "query/bind/column.h"
#include "query/definitions.h"
#include "query/error.h"
#include "query/parse/parser.h"
#include "query/references.h"

namespace sluice::query {
namespace {

using Rows = std::vector<json::Value>;

Status Invalid(const db::TableSchema& schema, std::string_view what) {
  return QueryError(QueryCode::kTableDefinition, "table '{}': {}", schema.name, what);
}

Result<json::Value> DefaultOf(const db::Database& database, const db::TableSchema& schema,
                              const db::TableColumn& column) {
  ASSIGN_OR_RETURN(const ExpressionPtr expression, ParseExpression(column.default_text));
  auto value = EvaluateConstant(database, *expression);
  if (value) return value;
  return Unexpected(Invalid(schema, fmt::format("the DEFAULT of column '{}', {}: {}", column.name,
                                                column.default_text, value.error().message())));
}

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

// Each must be a condition over columns.
Status CheckChecks(const db::TableSchema& schema) {
  Variables variables;
  db::KeyspaceInfo keyspace;
  keyspace.name = db::TableKeyspace(schema.name);
  keyspace.table = std::make_shared<const db::TableSchema>(schema);
  const VariableId row = variables.AddDocument(schema.name, keyspace);
  for (const db::TableCheck& check : schema.checks) {
    const auto bound = BindCheck(variables, row, check.condition);
    if (!bound) return bound.error();
  }
  return OkStatus();
}

Status CreateTable(db::Database& database, db::TableSchema schema) {
  RETURN_IF_ERROR(schema.Check());
  RETURN_IF_ERROR(CheckReferences(*database.catalog(), schema));
  RETURN_IF_ERROR(CheckDefaults(database, schema));
  RETURN_IF_ERROR(CheckChecks(schema));
  return database.CreateTable(std::move(schema));
}

// What rows that are there get in the new column.
Result<db::TableColumn> AddedColumn(db::Database& database, const db::TableSchema& schema,
                                    db::TableColumn column) {
  json::Value value = nullptr;
  if (!column.default_text.empty()) {
    ASSIGN_OR_RETURN(value, DefaultOf(database, schema, column));
  }
  auto stored = db::StoreColumn(schema, column, value);
  if (!stored) return Unexpected(TableError(stored.error()));
  column.added = std::move(*stored);
  return column;
}

Status AddTo(db::Database& database, const db::TableSchema& added, db::TableSchema* schema) {
  if (added.columns.empty() || !added.references.empty() || !added.checks.empty() ||
      !added.keys.empty()) {
    return Invalid(*schema,
                   "ALTER TABLE adds columns without keys and constraints; for a key use CREATE "
                   "[UNIQUE] INDEX");
  }
  for (const db::TableColumn& column : added.columns) {
    ASSIGN_OR_RETURN(db::TableColumn complete, AddedColumn(database, *schema, column));
    schema->columns.push_back(std::move(complete));
  }
  return OkStatus();
}

bool UsesColumn(const db::KeyspaceInfo& table, std::string_view column) {
  for (const auto& index : table.indexes) {
    for (const db::IndexPart& part : index->definition().parts) {
      if (db::SameColumnName(part.path, column) || !part.expression.empty()) return true;
    }
  }
  for (const db::TableReference& reference : table.table->references) {
    for (const std::string& name : reference.columns) {
      if (db::SameColumnName(name, column)) return true;
    }
  }
  return !table.table->checks.empty();
}

Status DropFrom(const db::KeyspaceInfo& table, std::string_view name, db::TableSchema* schema) {
  const auto column = schema->ColumnIndex(name);
  if (!column) return Invalid(*schema, fmt::format("there is no column '{}'", name));
  if (UsesColumn(table, name)) {
    return Invalid(*schema, fmt::format("column '{}' can't be dropped: an index or a constraint may"
                                        " use it",
                                        name));
  }
  schema->columns.erase(schema->columns.begin() + static_cast<std::ptrdiff_t>(*column));
  return OkStatus();
}

Status Alter(db::Database& database, const AlterTableStatement& statement) {
  for (const AlterTableStatement::Action& action : statement.actions) {
    const auto table = database.catalog()->FindTable(statement.name);
    if (table == nullptr) {
      return QueryError(QueryCode::kKeyspaceNotFound, "there is no table '{}'", statement.name);
    }
    if (action.kind == AlterTableStatement::Kind::kRename) {
      RETURN_IF_ERROR(database.RenameTable(table->table->name, action.to));
      continue;
    }
    db::TableSchema schema = *table->table;
    RETURN_IF_ERROR(action.kind == AlterTableStatement::Kind::kAdd
                        ? AddTo(database, action.added, &schema)
                        : DropFrom(*table, action.name, &schema));
    RETURN_IF_ERROR(database.AlterTable(std::move(schema)));
  }
  return OkStatus();
}

DefinitionRows Done(const Status& status, const TextPlace& place) {
  if (!status.ok()) return Unexpected(AtPlace(TableError(status), place));
  return Rows{};
}

}  // namespace

DefinitionRows RunDefinition(db::Database& database, const QueryContext&,
                             const CreateTableStatement& statement) {
  const Status status = CreateTable(database, statement.schema);
  if (statement.if_not_exists && status.id() == "table.exists") return Rows{};
  return Done(status, statement.place);
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext&,
                             const DropTableStatement& statement) {
  const Status status = database.DropTable(statement.name);
  if (statement.if_exists && status.id() == "table.not_found") return Rows{};
  return Done(status, statement.place);
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext&,
                             const AlterTableStatement& statement) {
  return Done(Alter(database, statement), statement.place);
}

}  // namespace sluice::query
