#include "query/references.h"

#include <algorithm>
#include <utility>

#include "base/back_quoted.h"
#include "db/row.h"
#include "json/parse.h"

namespace sluice::query {
namespace {

constexpr size_t kMaxCascaded = 100'000;

using Names = std::vector<std::string>;

// Calls `visit` with each foreign key that refers to the table, and the table that has it.
template <typename Visit>
void ForEachReferenceTo(const db::Catalog& catalog, const db::TableSchema& table,
                        const Visit& visit) {
  for (const auto& [id, keyspace] : catalog.keyspaces()) {
    if (keyspace->table == nullptr) continue;
    for (const db::TableReference& reference : keyspace->table->references) {
      if (db::SameColumnName(reference.table, table.name)) visit(*keyspace, reference);
    }
  }
}

class ReferenceKeeper {
 public:
  ReferenceKeeper(QueryEngine& engine, db::Transaction& transaction, std::vector<RowChange> changes)
      : engine_(engine),
        transaction_(transaction),
        catalog_(engine.database().catalog()),
        changes_(std::move(changes)) {}

  Status Run() {
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (changes_.size() > kMaxCascaded) {
        return QueryError(QueryCode::kForeignKey, "more than {} rows would change by foreign keys",
                          kMaxCascaded);
      }
      const RowChange change = changes_[i];
      RETURN_IF_ERROR(Cascade(change));
    }
    for (const RowChange& change : changes_) RETURN_IF_ERROR(CheckRow(change));
    return OkStatus();
  }

 private:
  using Values = std::vector<Value>;

  // The typed values of columns; nothing when one is NULL.
  static Result<std::optional<Values>> ValuesOf(const db::TableSchema& schema, const Names& columns,
                                                const std::string& body) {
    ASSIGN_OR_RETURN(const Value row, json::Parse(body));
    Values values;
    for (const std::string& name : columns) {
      const db::TableColumn& column = *schema.FindColumn(name);
      const Value& stored = row[column.name];
      Value value = stored.is_missing() && column.added ? *column.added : stored;
      value = db::LoadColumn(column.type, value);
      if (value.is_null()) return std::nullopt;
      values.push_back(std::move(value));
    }
    return values;
  }

  // The keys of the rows that have these values.
  Result<Names> Find(const db::TableSchema& schema, const Names& columns, const Values& values,
                     bool one) {
    std::string text = fmt::format("SELECT RAW META(r).id FROM {} AS r", BackQuoted(schema.name));
    for (size_t i = 0; i < columns.size(); ++i) {
      text +=
          fmt::format("{} r.{} = ${}", i == 0 ? " WHERE" : " AND", BackQuoted(columns[i]), i + 1);
    }
    if (one) text += " LIMIT 1";
    RunRequest request;
    request.positional = values;
    request.transaction = &transaction_;
    ASSIGN_OR_RETURN(const auto run, engine_.Query(text, {}, std::move(request)));
    Names keys;
    while (run->Next()) keys.emplace_back(run->row().AsString());
    RETURN_IF_ERROR(run->status());
    return keys;
  }

  // Applies a change of a row to the rows that refer to it.
  Status Cascade(const RowChange& change) {
    if (!change.before) return OkStatus();
    const db::KeyspaceInfo* table = catalog_->Find(change.table);
    if (table == nullptr) return OkStatus();
    Status status;
    ForEachReferenceTo(*catalog_, *table->table,
                       [&](const db::KeyspaceInfo& child, const db::TableReference& reference) {
                         if (status.ok()) status = CascadeTo(change, *table, child, reference);
                       });
    return status;
  }

  Status CascadeTo(const RowChange& change, const db::KeyspaceInfo& parent,
                   const db::KeyspaceInfo& child, const db::TableReference& reference) {
    ASSIGN_OR_RETURN(const auto before,
                     ValuesOf(*parent.table, reference.their_columns, *change.before));
    if (!before) return OkStatus();
    std::optional<Values> after;
    if (change.after) {
      ASSIGN_OR_RETURN(after, ValuesOf(*parent.table, reference.their_columns, *change.after));
      if (after == before) return OkStatus();
    }
    ASSIGN_OR_RETURN(const Names keys, Find(*child.table, reference.columns, *before, false));
    const db::ReferenceAction action = change.after ? reference.on_update : reference.on_delete;
    // Another row may have taken the values in the same transaction.
    if (keys.empty()) return OkStatus();
    const bool refuses = action == db::ReferenceAction::kRefuse;
    if (refuses || !parent.table->HasUniqueKey(reference.their_columns)) {
      ASSIGN_OR_RETURN(const Names still,
                       Find(*parent.table, reference.their_columns, *before, true));
      if (!still.empty()) return OkStatus();
    }
    if (refuses) {
      return QueryError(QueryCode::kForeignKey,
                        "a row of '{}' is referred to by '{}' (foreign key '{}')",
                        parent.table->name, child.table->name, reference.name);
    }
    for (const std::string& key : keys) {
      if (action == db::ReferenceAction::kCascade && !change.after) {
        RETURN_IF_ERROR(Delete(child, key));
      } else {
        const bool null = action == db::ReferenceAction::kSetNull || !after;
        RETURN_IF_ERROR(Set(child, key, reference.columns, null ? nullptr : &*after));
      }
    }
    return OkStatus();
  }

  Status Delete(const db::KeyspaceInfo& table, const std::string& key) {
    ASSIGN_OR_RETURN(const auto row, transaction_.Get(table.id, key));
    if (!row) return OkStatus();
    RETURN_IF_ERROR(transaction_.Delete(table.id, key));
    changes_.push_back({.table = table.id, .key = key, .before = row->body, .after = std::nullopt});
    return OkStatus();
  }

  // Null: the columns become NULL.
  Status Set(const db::KeyspaceInfo& table, const std::string& key, const Names& columns,
             const Values* values) {
    ASSIGN_OR_RETURN(auto row, transaction_.Get(table.id, key));
    if (!row) return OkStatus();
    ASSIGN_OR_RETURN(const Value body, json::Parse(row->body));
    Values stored;
    for (const db::TableColumn& column : table.table->columns) {
      const Value& present = body[column.name];
      stored.push_back(present.is_missing() ? column.added.value_or(Value(nullptr)) : present);
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      const size_t at = *table.table->ColumnIndex(columns[i]);
      auto converted = db::StoreColumn(*table.table, table.table->columns[at],
                                       values == nullptr ? Value(nullptr) : (*values)[i]);
      if (!converted) return TableError(converted.error());
      stored[at] = std::move(*converted);
    }
    RowChange change{.table = table.id, .key = key, .before = row->body, .after = std::nullopt};
    row->body = db::RowText(*table.table, stored);
    change.after = row->body;
    changes_.push_back(std::move(change));
    const auto put = transaction_.Put(table.id, key, std::move(*row));
    return put ? OkStatus() : put.error();
  }

  // Checks that the rows to which this row refers exist at the end of the statement.
  Status CheckRow(const RowChange& change) {
    const db::KeyspaceInfo* table = catalog_->Find(change.table);
    if (!change.after || table == nullptr || table->table->references.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const auto row, transaction_.Get(change.table, change.key));
    if (!row) return OkStatus();
    for (const db::TableReference& reference : table->table->references) {
      ASSIGN_OR_RETURN(const auto values, ValuesOf(*table->table, reference.columns, row->body));
      if (!values) continue;
      const auto parent = catalog_->FindTable(reference.table);
      if (parent != nullptr) {
        ASSIGN_OR_RETURN(const Names found,
                         Find(*parent->table, reference.their_columns, *values, true));
        if (!found.empty()) continue;
      }
      return QueryError(
          QueryCode::kForeignKey,
          "a row of '{}' refers to a row of '{}' that does not exist (foreign key '{}')",
          table->table->name, reference.table, reference.name);
    }
    return OkStatus();
  }

  QueryEngine& engine_;
  db::Transaction& transaction_;
  const std::shared_ptr<const db::Catalog> catalog_;
  std::vector<RowChange> changes_;  // those that follow are added at the end
};

}  // namespace

bool HasReferences(const db::Catalog& catalog, const db::KeyspaceInfo& table) {
  if (table.table == nullptr) return false;
  bool found = !table.table->references.empty();
  ForEachReferenceTo(catalog, *table.table,
                     [&](const db::KeyspaceInfo&, const db::TableReference&) { found = true; });
  return found;
}

Status KeepReferences(QueryEngine& engine, db::Transaction& transaction,
                      std::vector<RowChange> changes) {
  return ReferenceKeeper(engine, transaction, std::move(changes)).Run();
}

namespace {

bool HasKeyOf(const db::TableSchema& schema, const Names& columns) {
  return std::ranges::any_of(schema.keys, [&](const db::TableKey& key) {
    return key.parts.size() == columns.size() &&
           std::ranges::all_of(key.parts, [&](const db::TableKeyPart& part) {
             return std::ranges::any_of(columns, [&](const std::string& column) {
               return db::SameColumnName(part.column, column);
             });
           });
  });
}

}  // namespace

Status ResolveKeyNames(const db::Catalog& catalog, db::TableSchema* schema) {
  for (db::TableReference& reference : schema->references) {
    if (reference.their_columns.size() != 1 || !reference.their_columns[0].starts_with(':')) {
      continue;
    }
    const std::string name = reference.their_columns[0].substr(1);
    const bool own = db::SameColumnName(reference.table, schema->name);
    const auto found = own ? nullptr : catalog.FindTable(reference.table);
    reference.their_columns.clear();
    if (!own && found == nullptr) {
      return QueryError(QueryCode::kTableDefinition, "foreign key '{}': there is no table '{}'",
                        reference.name, reference.table);
    }
    for (const db::TableKey& key : own ? schema->keys : found->table->keys) {
      if (!db::SameColumnName(key.name, name)) continue;
      for (const db::TableKeyPart& part : key.parts) {
        reference.their_columns.push_back(part.column);
      }
    }
    if (!reference.their_columns.empty()) continue;
    return QueryError(QueryCode::kTableDefinition, "foreign key '{}': table '{}' has no key '{}'",
                      reference.name, reference.table, name);
  }
  return OkStatus();
}

Status CheckReferences(const db::Catalog& catalog, const db::TableSchema& schema, Dialect dialect) {
  for (const db::TableReference& reference : schema.references) {
    const bool own = db::SameColumnName(reference.table, schema.name);
    const auto found = own ? nullptr : catalog.FindTable(reference.table);
    if (!own && found == nullptr) {
      return QueryError(QueryCode::kTableDefinition, "foreign key '{}': there is no table '{}'",
                        reference.name, reference.table);
    }
    const db::TableSchema& parent = own ? schema : *found->table;
    const bool unique = parent.HasUniqueKey(reference.their_columns);
    if (unique || (dialect == Dialect::kComdb2 && HasKeyOf(parent, reference.their_columns))) {
      continue;
    }
    return QueryError(QueryCode::kTableDefinition,
                      "foreign key '{}': table '{}' has no {}key of just these columns",
                      reference.name, parent.name,
                      dialect == Dialect::kComdb2 ? "" : "primary or unique ");
  }
  return OkStatus();
}

}  // namespace sluice::query
