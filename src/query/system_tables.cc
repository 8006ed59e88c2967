#include "query/system_tables.h"

#include <fmt/format.h>

#include "query/functions/aggregate.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

using json::Value;
using Rows = std::vector<Value>;

// Calls `visit` with the keyspace of each table, by name.
template <typename Visit>
void ForEachTable(const db::Catalog& catalog, const Visit& visit) {
  const auto bucket = catalog.buckets().find(db::kTablesBucket);
  if (bucket == catalog.buckets().end()) return;
  for (const auto& [scope_name, scope] : bucket->second.scopes) {
    for (const auto& [name, id] : scope.collections) visit(*catalog.Find(id));
  }
}

Value YesNo(bool yes) { return yes ? "Y" : "N"; }
Value TextOrNull(const std::string& text) { return text.empty() ? Value(nullptr) : Value(text); }

Rows Tables(const db::Catalog& catalog) {
  Rows rows;
  ForEachTable(catalog, [&](const db::KeyspaceInfo& table) {
    rows.push_back(Value::Object({{"tablename", table.table->name}}));
  });
  return rows;
}

Rows Columns(const db::Catalog& catalog) {
  Rows rows;
  ForEachTable(catalog, [&](const db::KeyspaceInfo& table) {
    for (const db::TableColumn& column : table.table->columns) {
      rows.push_back(Value::Object({{"tablename", table.table->name},
                                    {"columnname", column.name},
                                    {"type", db::ColumnTypeName(column.type)},
                                    {"size", column.length},
                                    {"sqltype", column.TypeText()},
                                    {"varinlinesize", nullptr},
                                    {"defaultvalue", TextOrNull(column.default_text)},
                                    {"dbload", nullptr},
                                    {"isnullable", YesNo(!column.not_null)}}));
    }
  });
  return rows;
}

Rows Keys(const db::Catalog& catalog) {
  Rows rows;
  ForEachTable(catalog, [&](const db::KeyspaceInfo& table) {
    int64_t number = 0;
    for (const auto& index : table.indexes) {
      rows.push_back(Value::Object({{"tablename", table.table->name},
                                    {"keyname", index->definition().name},
                                    {"keynumber", number++},
                                    {"isunique", YesNo(index->definition().unique)},
                                    {"isdatacopy", "N"},
                                    {"isrecnum", "N"},
                                    {"condition", TextOrNull(index->definition().where)},
                                    {"uniqnulls", "N"}}));
    }
  });
  return rows;
}

Rows KeyComponents(const db::Catalog& catalog) {
  Rows rows;
  ForEachTable(catalog, [&](const db::KeyspaceInfo& table) {
    for (const auto& index : table.indexes) {
      int64_t number = 0;
      for (const db::IndexPart& part : index->definition().parts) {
        rows.push_back(
            Value::Object({{"tablename", table.table->name},
                           {"keyname", index->definition().name},
                           {"columnnumber", number++},
                           {"columnname", part.expression.empty() ? part.path : part.expression},
                           {"isdescending", YesNo(part.descending)}}));
      }
    }
  });
  return rows;
}

std::string Joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

Rows Constraints(const db::Catalog& catalog) {
  Rows rows;
  ForEachTable(catalog, [&](const db::KeyspaceInfo& table) {
    for (const db::TableReference& reference : table.table->references) {
      rows.push_back(Value::Object(
          {{"name", reference.name},
           {"tablename", table.table->name},
           {"keyname", Joined(reference.columns)},
           {"foreigntablename", reference.table},
           {"foreignkeyname", Joined(reference.their_columns)},
           {"iscascadingdelete", YesNo(reference.on_delete == db::ReferenceAction::kCascade)},
           {"iscascadingupdate", YesNo(reference.on_update == db::ReferenceAction::kCascade)}}));
    }
  });
  return rows;
}

struct Entry {
  std::string_view name;
  Rows (*rows)(const db::Catalog& catalog);
};
constexpr Entry kEntries[] = {{"comdb2_tables", Tables},
                              {"comdb2_columns", Columns},
                              {"comdb2_keys", Keys},
                              {"comdb2_keycomponents", KeyComponents},
                              {"comdb2_constraints", Constraints}};

Value FunctionRow(std::string_view name, std::string_view type, bool deterministic,
                  std::string_view lang = "builtin") {
  return Value::Object(
      {{"name", name}, {"type", type}, {"lang", lang}, {"deterministic", YesNo(deterministic)}});
}

Rows Functions(const UserFunctionTable* of_users) {
  Rows rows;
  for (const std::string_view name : FunctionNames()) {
    rows.push_back(
        FunctionRow(name, "scalar", FindFunction(name)->volatility == Volatility::kPure));
  }
  for (const std::string_view name : AggregateNames()) {
    rows.push_back(FunctionRow(name, "aggregate", true));
  }
  for (const std::string_view name : WindowFunctionNames()) {
    rows.push_back(FunctionRow(name, "window", true));
  }
  if (of_users == nullptr) return rows;
  for (const auto& [name, function] : of_users->functions) {
    rows.push_back(FunctionRow(function->name, function->aggregate ? "aggregate" : "scalar",
                               function->deterministic, "lua"));
  }
  return rows;
}

}  // namespace

std::optional<Rows> SystemTableRows(const db::Catalog& catalog, const Procedures* procedures,
                                    std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (db::SameColumnName(entry.name, name)) return entry.rows(catalog);
  }
  if (db::SameColumnName("comdb2_functions", name)) {
    return Functions(procedures == nullptr ? nullptr : procedures->Functions().get());
  }
  const auto listed = [&](Rows (Procedures::*list)() const) {
    return procedures == nullptr ? Rows() : (procedures->*list)();
  };
  if (db::SameColumnName("comdb2_procedures", name)) return listed(&Procedures::List);
  if (db::SameColumnName("comdb2_triggers", name)) return listed(&Procedures::ListTriggers);
  if (db::SameColumnName("comdb2_queues", name)) return listed(&Procedures::ListQueues);
  return std::nullopt;
}

}  // namespace sluice::query
