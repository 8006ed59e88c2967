#include "query/alter_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/back_quoted.h"
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
  definition.many_nulls = key.many_nulls;
  for (const db::TableKeyPart& part : key.parts) {
    const db::TableColumn* const column = schema.FindColumn(part.column);
    definition.parts.push_back({.path = column == nullptr ? part.column : column->name,
                                .descending = part.descending,
                                .include_missing = definition.parts.empty()});
  }
  return definition;
}

bool IsWhole(db::ColumnType type) { return type <= db::ColumnType::kUnsignedLongLong; }
bool IsReal(db::ColumnType type) {
  return type == db::ColumnType::kFloat || type == db::ColumnType::kDouble;
}
bool IsText(db::ColumnType type) {
  return type == db::ColumnType::kCString || type == db::ColumnType::kVutf8;
}

// Whether columns of both types store a value in the same form.
bool IsSameForm(db::ColumnType from, db::ColumnType to) {
  if (from == to) return true;
  if (IsWhole(from)) return IsWhole(to) || IsReal(to);
  return (IsReal(from) && to == db::ColumnType::kDouble) || (IsText(from) && IsText(to));
}

// The condition under which a row's value does not fit; empty for none.
std::string OutOfRange(const db::TableColumn& column) {
  struct Limits {
    std::string_view least;
    std::string_view most;
  };
  static constexpr Limits kLimits[] = {{"-32768", "32767"},
                                       {"0", "65535"},
                                       {"-2147483648", "2147483647"},
                                       {"0", "4294967295"},
                                       {"-9223372036854775808", "9223372036854775807"},
                                       {"0", "18446744073709551615"}};
  const std::string name = BackQuoted(column.name);
  if (IsWhole(column.type)) {
    const Limits& limits = kLimits[static_cast<size_t>(column.type)];
    return fmt::format("({0} < {1} OR {0} > {2})", name, limits.least, limits.most);
  }
  const bool bytes = column.type == db::ColumnType::kBlob || column.type == db::ColumnType::kByte;
  if (column.length == 0 || bytes) return "";
  return fmt::format("LENGTH({}) > {}", name, column.length);
}

// One ALTER TABLE ... ADD, DROP or ALTER.
class Alteration {
 public:
  Alteration(QueryEngine& engine, const db::KeyspaceInfo& table, Dialect dialect)
      : engine_(engine),
        database_(engine.database()),
        table_(table),
        dialect_(dialect),
        schema_(*table.table) {}

  Status Add(const db::TableSchema& added) {
    for (const db::TableColumn& column : added.columns) {
      ASSIGN_OR_RETURN(db::TableColumn complete, AddedColumn(database_, schema_, column));
      schema_.columns.push_back(std::move(complete));
    }
    for (const db::TableKey& key : added.keys) RETURN_IF_ERROR(AddKey(key));
    schema_.references.insert(schema_.references.end(), added.references.begin(),
                              added.references.end());
    schema_.checks.insert(schema_.checks.end(), added.checks.begin(), added.checks.end());
    RETURN_IF_ERROR(ResolveKeyNames(*database_.catalog(), &schema_));
    RETURN_IF_ERROR(schema_.Check());
    RETURN_IF_ERROR(CheckReferences(*database_.catalog(), schema_, dialect_));
    RETURN_IF_ERROR(CheckChecks(schema_));
    RETURN_IF_ERROR(database_.admin().AlterTable(schema_));
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
    return database_.admin().AlterTable(schema_);
  }

  // ALTER COLUMN: changes the property `what` of the column to that of `wanted`.
  Status Change(std::string_view name, std::string_view what, const db::TableColumn& wanted) {
    const auto at = schema_.ColumnIndex(name);
    if (!at) return Invalid(schema_, fmt::format("there is no column '{}'", name));
    db::TableColumn& column = schema_.columns[*at];
    const db::TableColumn before = column;
    if (what == "type") {
      column.type = wanted.type;
      column.length = wanted.length;
    } else if (what == "default" || what == "no default") {
      column.default_text = wanted.default_text;
    } else {
      column.not_null = what == "not null";
    }
    RETURN_IF_ERROR(schema_.Check());
    RETURN_IF_ERROR(CheckChange(before, column));
    RETURN_IF_ERROR(database_.admin().AlterTable(schema_));
    const Status status = CheckRows(before, column);
    if (!status.ok()) static_cast<void>(database_.admin().AlterTable(*table_.table));
    return status;
  }

  // A CHECK, a foreign key or a key.
  Status DropConstraint(const std::string& name) {
    const auto named = [&](const auto& item) { return db::SameColumnName(item.name, name); };
    const size_t dropped =
        std::erase_if(schema_.checks, named) + std::erase_if(schema_.references, named);
    if (dropped == 0) return DropKey(name);
    return database_.admin().AlterTable(schema_);
  }

  Status DropKey(const std::string& name) {
    const auto index = std::ranges::find_if(table_.indexes, [&](const auto& index) {
      return db::SameColumnName(index->definition().name, name);
    });
    if (index == table_.indexes.end()) {
      return Invalid(schema_, fmt::format("there is no key or constraint '{}'", name));
    }
    return database_.admin().DropIndex(table_.name, (*index)->definition().name);
  }

 private:
  Status CheckChange(const db::TableColumn& before, const db::TableColumn& column) {
    if (!IsSameForm(before.type, column.type)) {
      return Invalid(schema_, fmt::format("column '{}' can't become a {}: rows keep their stored "
                                          "values. Add a column, copy the values and drop this one",
                                          before.name, column.TypeText()));
    }
    if (!column.not_null && IsPrimary(column.name)) {
      return Invalid(schema_, fmt::format("column '{}' is of the primary key", column.name));
    }
    if (column.default_text.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const json::Value value, DefaultOf(database_, schema_, column));
    if (value.is_null()) return OkStatus();
    const auto stored = db::StoreColumn(schema_, column, value);
    return stored ? OkStatus() : TableError(stored.error());
  }

  bool IsPrimary(std::string_view column) const {
    return std::ranges::any_of(schema_.keys, [&](const db::TableKey& key) {
      return key.primary && std::ranges::any_of(key.parts, [&](const db::TableKeyPart& part) {
               return db::SameColumnName(part.column, column);
             });
    });
  }

  // Checks that the existing values fit the changed column.
  Status CheckRows(const db::TableColumn& before, const db::TableColumn& column) {
    const std::string name = BackQuoted(column.name);
    if (column.not_null && !before.not_null) {
      RETURN_IF_ERROR(ExpectNone(name + " IS NULL", QueryCode::kNotNull,
                                 fmt::format("a row has NULL in '{}'", column.name)));
    }
    const std::string condition = OutOfRange(column);
    const bool same = before.type == column.type && before.length == column.length;
    if (same || condition.empty()) return OkStatus();
    return ExpectNone(condition, QueryCode::kConversion,
                      fmt::format("a row has a value in '{}' that a {} can't hold", column.name,
                                  column.TypeText()));
  }

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

  // Runs when writers already obey the addition: builds its indexes and checks the existing rows.
  Status CompleteAdd(const db::TableSchema& added) {
    for (const db::TableKey& key : added.keys) {
      RETURN_IF_ERROR(
          database_.admin().CreateIndex(table_.name, IndexOf(schema_, key), db::IndexBuild::kNow));
      for (const db::TableKeyPart& part : key.parts) {
        if (!key.primary) continue;
        RETURN_IF_ERROR(ExpectNone(fmt::format("{} IS NULL", BackQuoted(part.column)),
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
      const std::string mine = "row_." + BackQuoted(reference.columns[i]);
      condition += fmt::format("{} IS NOT NULL AND ", mine);
      same += fmt::format("{}parent_.{} = {}", i == 0 ? "" : " AND ",
                          BackQuoted(reference.their_columns[i]), mine);
    }
    return fmt::format("{}NOT EXISTS (SELECT 1 FROM {} AS parent_ WHERE {})", condition,
                       BackQuoted(reference.table), same);
  }

  Status ExpectNone(const std::string& condition, QueryCode code, const std::string& otherwise) {
    const std::string text = fmt::format("SELECT RAW 1 FROM {} AS row_ WHERE {} LIMIT 1",
                                         BackQuoted(schema_.name), condition);
    ASSIGN_OR_RETURN(const auto run, engine_.Query(text, {}, {}));
    if (run->Next()) return QueryError(code, "table '{}': {}", schema_.name, otherwise);
    return run->status();
  }

  void TakeBack(const db::TableSchema& added) {
    for (const db::TableKey& key : added.keys) {
      // It may not have been made.
      static_cast<void>(database_.admin().DropIndex(table_.name, key.name));
    }
    static_cast<void>(database_.admin().AlterTable(*table_.table));
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
  const Dialect dialect_;
  db::TableSchema schema_;  // as it will be
};

bool SameKey(const db::TableKey& a, const db::TableKey& b) {
  const auto same_part = [](const db::TableKeyPart& x, const db::TableKeyPart& y) {
    return db::SameColumnName(x.column, y.column) && x.descending == y.descending;
  };
  return db::SameColumnName(a.name, b.name) && a.unique == b.unique &&
         a.many_nulls == b.many_nulls && std::ranges::equal(a.parts, b.parts, same_part);
}

// ALTER TABLE t { ... }: drops parts that the schema no longer has, adds new ones, changes columns.
class Replacement {
 public:
  Replacement(QueryEngine& engine, std::string table, const db::TableSchema& wanted,
              Dialect dialect)
      : engine_(engine), table_(std::move(table)), wanted_(wanted), dialect_(dialect) {}

  Status Run() {
    const db::TableSchema before = *Info()->table;
    for (const auto& check : before.checks) RETURN_IF_ERROR(Now().DropConstraint(check.name));
    for (const auto& reference : before.references) {
      RETURN_IF_ERROR(Now().DropConstraint(reference.name));
    }
    for (const db::TableKey& key : before.keys) {
      if (!Has(wanted_.keys, key)) RETURN_IF_ERROR(Now().DropKey(key.name));
    }
    for (const db::TableColumn& column : before.columns) {
      if (wanted_.FindColumn(column.name) == nullptr) {
        RETURN_IF_ERROR(Now().DropColumn(column.name));
      }
    }
    for (const db::TableColumn& column : wanted_.columns) {
      const db::TableColumn* const known = before.FindColumn(column.name);
      if (known == nullptr) {
        RETURN_IF_ERROR(Now().Add({.name = table_, .columns = {column}}));
      } else {
        RETURN_IF_ERROR(Change(*known, column));
      }
    }
    db::TableSchema rest{.name = table_};
    for (const db::TableKey& key : wanted_.keys) {
      if (!Has(before.keys, key)) rest.keys.push_back(key);
    }
    rest.references = wanted_.references;
    rest.checks = wanted_.checks;
    const bool more = !rest.keys.empty() || !rest.references.empty() || !rest.checks.empty();
    return more ? Now().Add(rest) : OkStatus();
  }

 private:
  static bool Has(const std::vector<db::TableKey>& keys, const db::TableKey& key) {
    return std::ranges::any_of(keys, [&](const auto& other) { return SameKey(key, other); });
  }

  const std::shared_ptr<const db::KeyspaceInfo>& Info() {
    return info_ = engine_.database().catalog()->FindTable(table_);
  }
  Alteration Now() { return Alteration(engine_, *Info(), dialect_); }

  Status Change(const db::TableColumn& from, const db::TableColumn& to) {
    if (from.type != to.type || from.length != to.length) {
      RETURN_IF_ERROR(Now().Change(to.name, "type", to));
    }
    if (from.default_text != to.default_text) {
      RETURN_IF_ERROR(Now().Change(to.name, "default", to));
    }
    if (from.not_null == to.not_null) return OkStatus();
    return Now().Change(to.name, to.not_null ? "not null" : "null", to);
  }

  QueryEngine& engine_;
  const std::string table_;
  const db::TableSchema& wanted_;
  const Dialect dialect_;
  std::shared_ptr<const db::KeyspaceInfo> info_;
};

Status Carry(QueryEngine& engine, const db::KeyspaceInfo& table, const Action& action,
             Dialect dialect) {
  if (action.kind == Kind::kRename) {
    return engine.database().admin().RenameTable(table.table->name, action.to);
  }
  if (action.kind == Kind::kReplace)
    return Replacement(engine, table.table->name, action.added, dialect).Run();
  Alteration alteration(engine, table, dialect);
  if (action.kind == Kind::kChange) {
    return alteration.Change(action.name, action.to, action.added.columns[0]);
  }
  if (action.kind == Kind::kAdd) return alteration.Add(action.added);
  if (!action.added.keys.empty()) return alteration.DropKey(action.name);
  if (!action.added.checks.empty()) return alteration.DropConstraint(action.name);
  return alteration.DropColumn(action.name);
}

}  // namespace

Status AlterTable(QueryEngine& engine, const AlterTableStatement& statement, Dialect dialect) {
  std::string name = statement.name;
  for (const Action& action : statement.actions) {
    const auto table = engine.database().catalog()->FindTable(name);
    if (table == nullptr) {
      return QueryError(QueryCode::kKeyspaceNotFound, "there is no table '{}'", name);
    }
    RETURN_IF_ERROR(Carry(engine, *table, action, dialect));
    if (action.kind == Kind::kRename) name = action.to;
  }
  return OkStatus();
}

}  // namespace sluice::query
