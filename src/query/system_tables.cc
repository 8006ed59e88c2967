#include "query/system_tables.h"

#include <climits>

#include <fmt/format.h>
#include <unistd.h>

#include "query/functions/aggregate.h"
#include "query/functions/function.h"
#include "query/parse/ast.h"

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
                                    {"uniqnulls", YesNo(index->definition().many_nulls)}}));
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

// There are none: CREATE VIEW is refused.
Rows Views(const db::Catalog&) { return {}; }

Rows SystemTables(const db::Catalog&) {
  Rows rows;
  for (const std::string_view name : SystemTableNames()) {
    rows.push_back(Value::Object({{"name", name}}));
  }
  return rows;
}

// One server is all of the cluster.
Rows Cluster(const db::Catalog&) {
  char host[HOST_NAME_MAX + 1] = {};
  if (gethostname(host, sizeof(host) - 1) != 0) return {};
  return {Value::Object({{"host", std::string(host)},
                         {"port", nullptr},
                         {"is_master", "Y"},
                         {"coherent_state", "coherent"},
                         {"logfile", nullptr},
                         {"logoffset", nullptr}})};
}

std::string DefinitionOf(const db::TableSchema& schema) {
  Statement statement;
  CreateTableStatement create;
  create.schema = schema;
  statement.body = std::move(create);
  return ToText(statement);
}

Rows SqliteMaster(const db::Catalog& catalog) {
  Rows rows;
  ForEachTable(catalog, [&](const db::KeyspaceInfo& table) {
    const std::string& name = table.table->name;
    rows.push_back(Value::Object({{"type", "table"},
                                  {"name", name},
                                  {"tbl_name", name},
                                  {"rootpage", static_cast<int64_t>(table.id)},
                                  {"sql", DefinitionOf(*table.table)}}));
    for (const auto& index : table.indexes) {
      rows.push_back(Value::Object({{"type", "index"},
                                    {"name", index->definition().name},
                                    {"tbl_name", name},
                                    {"rootpage", static_cast<int64_t>(index->id())},
                                    {"sql", nullptr}}));
    }
  });
  return rows;
}

struct Entry {
  std::string_view name;
  Rows (*rows)(const db::Catalog& catalog);  // null: not of the catalog
  std::vector<std::string> columns;
};

// Sorted.
const std::vector<Entry>& Entries() {
  static const std::vector<Entry> entries = {
      {"comdb2_cluster",
       Cluster,
       {"host", "port", "is_master", "coherent_state", "logfile", "logoffset"}},
      {"comdb2_columns",
       Columns,
       {"tablename", "columnname", "type", "size", "sqltype", "varinlinesize", "defaultvalue",
        "dbload", "isnullable"}},
      {"comdb2_constraints",
       Constraints,
       {"name", "tablename", "keyname", "foreigntablename", "foreignkeyname", "iscascadingdelete",
        "iscascadingupdate"}},
      {"comdb2_functions", nullptr, {"name", "type", "lang", "deterministic"}},
      {"comdb2_keycomponents",
       KeyComponents,
       {"tablename", "keyname", "columnnumber", "columnname", "isdescending"}},
      {"comdb2_keys",
       Keys,
       {"tablename", "keyname", "keynumber", "isunique", "isdatacopy", "isrecnum", "condition",
        "uniqnulls"}},
      {"comdb2_procedures", nullptr, {"name", "version", "client_versioned", "default", "src"}},
      {"comdb2_queues",
       nullptr,
       {"queuename", "spname", "head_age", "depth", "total_enqueued", "total_dequeued"}},
      {"comdb2_systables", SystemTables, {"name"}},
      {"comdb2_tables", Tables, {"tablename"}},
      {"comdb2_triggers", nullptr, {"name", "type", "tbl_name", "event", "col", "seq"}},
      {"comdb2_users", nullptr, {"username", "isOP"}},  // system_rows.cc
      {"comdb2_views", Views, {"name", "definition"}},
      {"sqlite_master", SqliteMaster, {"type", "name", "tbl_name", "rootpage", "sql"}},
  };
  return entries;
}

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
  for (const Entry& entry : Entries()) {
    if (entry.rows != nullptr && db::SameColumnName(entry.name, name)) return entry.rows(catalog);
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

std::vector<std::string> SystemTableColumns(std::string_view name) {
  for (const Entry& entry : Entries()) {
    if (db::SameColumnName(entry.name, name)) return entry.columns;
  }
  return {};
}

std::vector<std::string_view> SystemTableNames() {
  std::vector<std::string_view> names;
  for (const Entry& entry : Entries()) names.push_back(entry.name);
  return names;
}

}  // namespace sluice::query
