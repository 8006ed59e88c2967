#include "query/alter_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "db/row.h"
#include "query/definitions.h"
#include "query/error.h"
#include "query/references.h"
#include "query/table_checks.h"

namespace sluice::query {
namespace {

using Action = AlterTableStatement::Action;
using Kind = AlterTableStatement::Kind;

Status Invalid(const db::TableSchema& schema, std::string_view what) {
  return QueryError(QueryCode::kTableDefinition, "table '{}': {}", schema.name, what);
}

std::string Quoted(std::string_view name) { return fmt::format("`{}`", name); }

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

db::IndexDefinition IndexOf(const db::TableSchema& schema, const db::TableKey& key) {
  db::IndexDefinition definition;
  definition.name = key.name;
  definition.unique = key.unique;
  for (const db::TableKeyPart& part : key.parts) {
    const db::TableColumn* const column = schema.FindColumn(part.column);
    definition.parts.push_back({.path = column == nullptr ? part.column : column->name,
                                .descending = part.descending,
                                .include_missing = definition.parts.empty()});
  }
  return definition;
}

// One ALTER TABLE ... ADD or DROP.
class Alteration {
 public:
  Alteration(QueryEngine& engine, const db::KeyspaceInfo& table)
      : engine_(engine), database_(engine.database()), table_(table), schema_(*table.table) {}

  Status Add(const db::TableSchema& added) {
    for (const db::TableColumn& column : added.columns) {
      ASSIGN_OR_RETURN(db::TableColumn complete, AddedColumn(database_, schema_, column));
      schema_.columns.push_back(std::move(complete));
    }
    for (const db::TableKey& key : added.keys) RETURN_IF_ERROR(AddKey(key));
    schema_.references.insert(schema_.references.end(), added.references.begin(),
                              added.references.end());
    schema_.checks.insert(schema_.checks.end(), added.checks.begin(), added.checks.end());
    RETURN_IF_ERROR(schema_.Check());
    RETURN_IF_ERROR(CheckReferences(*database_.catalog(), schema_));
    RETURN_IF_ERROR(CheckChecks(schema_));
    RETURN_IF_ERROR(database_.AlterTable(schema_));
    const Status status = CompleteAdd(added);
    if (!status.ok()) TakeBack(added);
    return status;
  }

  Status DropColumn(std::string_view name) {
    const auto column = schema_.ColumnIndex(name);
    if (!column) return Invalid(schema_, fmt::format("there is no column '{}'", name));
    if (Uses(name)) {
      return Invalid(schema_, fmt::format("column '{}' can't be dropped: an index or a constraint "
                                          "may use it",
                                          name));
    }
    schema_.columns.erase(schema_.columns.begin() + static_cast<std::ptrdiff_t>(*column));
    return database_.AlterTable(schema_);
  }

  // A CHECK, a foreign key or a key.
  Status DropConstraint(const std::string& name) {
    const auto named = [&](const auto& item) { return db::SameColumnName(item.name, name); };
    const size_t dropped =
        std::erase_if(schema_.checks, named) + std::erase_if(schema_.references, named);
    if (dropped == 0) return DropKey(name);
    return database_.AlterTable(schema_);
  }

  Status DropKey(const std::string& name) {
    const auto index = std::ranges::find_if(table_.indexes, [&](const auto& index) {
      return db::SameColumnName(index->definition().name, name);
    });
    if (index == table_.indexes.end()) {
      return Invalid(schema_, fmt::format("there is no key or constraint '{}'", name));
    }
    return database_.DropIndex(table_.name, (*index)->definition().name);
  }

 private:
  Status AddKey(const db::TableKey& key) {
    const bool second = key.primary && std::ranges::any_of(schema_.keys, &db::TableKey::primary);
    if (second) return Invalid(schema_, "there is a primary key already");
    for (const db::TableKeyPart& part : key.parts) {
      const auto column = schema_.ColumnIndex(part.column);
      if (key.primary && column) schema_.columns[*column].not_null = true;
    }
    schema_.keys.push_back(key);
    return OkStatus();
  }

  // When writers keep to what was added: its indexes, and the rows that are there.
  Status CompleteAdd(const db::TableSchema& added) {
    for (const db::TableKey& key : added.keys) {
      RETURN_IF_ERROR(
          database_.CreateIndex(table_.name, IndexOf(schema_, key), db::IndexBuild::kNow));
      for (const db::TableKeyPart& part : key.parts) {
        if (!key.primary) continue;
        RETURN_IF_ERROR(ExpectNone(fmt::format("{} IS NULL", Quoted(part.column)),
                                   QueryCode::kNotNull,
                                   fmt::format("a row has NULL in '{}'", part.column)));
      }
    }
    for (const db::TableCheck& check : added.checks) {
      RETURN_IF_ERROR(ExpectNone(fmt::format("NOT ({})", check.condition),
                                 QueryCode::kCheckConstraint,
                                 fmt::format("a row is against the constraint '{}'", check.name)));
    }
    for (const db::TableReference& reference : added.references) {
      RETURN_IF_ERROR(
          ExpectNone(Orphans(reference), QueryCode::kForeignKey,
                     fmt::format("the foreign key '{}' of a row refers to nothing in '{}'",
                                 reference.name, reference.table)));
    }
    return OkStatus();
  }

  std::string Orphans(const db::TableReference& reference) const {
    std::string condition;
    std::string same;
    for (size_t i = 0; i < reference.columns.size(); ++i) {
      const std::string mine = "row_." + Quoted(reference.columns[i]);
      condition += fmt::format("{} IS NOT NULL AND ", mine);
      same += fmt::format("{}parent_.{} = {}", i == 0 ? "" : " AND ",
                          Quoted(reference.their_columns[i]), mine);
    }
    return fmt::format("{}NOT EXISTS (SELECT 1 FROM {} AS parent_ WHERE {})", condition,
                       Quoted(reference.table), same);
  }

  Status ExpectNone(const std::string& condition, QueryCode code, const std::string& otherwise) {
    const std::string text = fmt::format("SELECT RAW 1 FROM {} AS row_ WHERE {} LIMIT 1",
                                         Quoted(schema_.name), condition);
    ASSIGN_OR_RETURN(const auto run, engine_.Query(text, {}, {}));
    if (run->Next()) return QueryError(code, "table '{}': {}", schema_.name, otherwise);
    return run->status();
  }

  void TakeBack(const db::TableSchema& added) {
    for (const db::TableKey& key : added.keys) {
      // It may not have been made.
      static_cast<void>(database_.DropIndex(table_.name, key.name));
    }
    static_cast<void>(database_.AlterTable(*table_.table));
  }

  bool Uses(std::string_view column) const {
    const auto same = [&](const std::string& name) { return db::SameColumnName(name, column); };
    for (const auto& index : table_.indexes) {
      for (const db::IndexPart& part : index->definition().parts) {
        if (same(part.path) || !part.expression.empty()) return true;
      }
    }
    for (const db::TableReference& reference : schema_.references) {
      if (std::ranges::any_of(reference.columns, same)) return true;
    }
    return !schema_.checks.empty();
  }

  QueryEngine& engine_;
  db::Database& database_;
  const db::KeyspaceInfo& table_;
  db::TableSchema schema_;  // as it will be
};

Status Carry(QueryEngine& engine, const db::KeyspaceInfo& table, const Action& action) {
  if (action.kind == Kind::kRename) {
    return engine.database().RenameTable(table.table->name, action.to);
  }
  Alteration alteration(engine, table);
  if (action.kind == Kind::kAdd) return alteration.Add(action.added);
  if (!action.added.keys.empty()) return alteration.DropKey(action.name);
  if (!action.added.checks.empty()) return alteration.DropConstraint(action.name);
  return alteration.DropColumn(action.name);
}

}  // namespace

Status AlterTable(QueryEngine& engine, const AlterTableStatement& statement) {
  std::string name = statement.name;
  for (const Action& action : statement.actions) {
    const auto table = engine.database().catalog()->FindTable(name);
    if (table == nullptr) {
      return QueryError(QueryCode::kKeyspaceNotFound, "there is no table '{}'", name);
    }
    RETURN_IF_ERROR(Carry(engine, *table, action));
    if (action.kind == Kind::kRename) name = action.to;
  }
  return OkStatus();
}

}  // namespace sluice::query
