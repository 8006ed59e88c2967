#include "query/system_rows.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/back_quoted.h"
#include "json/path.h"
#include "query/error.h"
#include "query/system_tables.h"

namespace sluice::query {
namespace {

using Rows = std::vector<Value>;

constexpr std::string_view kDatastore = "sluice";
constexpr std::string_view kNamespace = "default";

std::string PathTo(std::string_view parts) { return fmt::format("{}:{}", kNamespace, parts); }

Value NamedRow(const std::string& name, std::string_view path) {
  return Value::Object({{"id", name},
                        {"name", name},
                        {"namespace", kNamespace},
                        {"namespace_id", kNamespace},
                        {"datastore_id", kDatastore},
                        {"path", PathTo(path)}});
}

Rows Datastores(const SystemView&) {
  return {Value::Object({{"id", kDatastore}, {"url", kDatastore}})};
}

Rows Namespaces(const SystemView&) {
  return {Value::Object({{"id", kNamespace}, {"name", kNamespace}, {"datastore_id", kDatastore}})};
}

Rows Dual(const SystemView&) { return {Value::EmptyObject()}; }

Rows Me(const SystemView& view) { return {view.me}; }
Rows Users(const SystemView& view) { return view.users; }
// As Comdb2 lists them: OP is who may do everything.
Rows Comdb2Users(const SystemView& view) {
  Rows rows;
  for (const Value& user : view.users) {
    bool admin = false;
    for (const Value& role : user["roles"].items()) admin |= role["role"] == Value("admin");
    rows.push_back(Value::Object({{"username", user["id"]}, {"isOP", admin ? "Y" : "N"}}));
  }
  return rows;
}
Rows Nodes(const SystemView& view) { return {view.node}; }

Rows Functions(const SystemView& view) {
  Rows rows;
  for (const auto& [name, function] : view.engine.Functions()->functions) {
    rows.push_back(Value::Object(
        {{"identity",
          Value::Object({{"name", function->name}, {"namespace", kNamespace}, {"type", "global"}})},
         {"definition", Value::Object({{"#language", "lua"},
                                       {"type", function->aggregate ? "aggregate" : "scalar"},
                                       {"deterministic", function->deterministic}})}}));
  }
  return rows;
}

Rows Buckets(const SystemView& view) {
  Rows rows;
  for (const auto& [name, bucket] : view.engine.database().catalog()->buckets()) {
    if (!view.sees_bucket(name) || name == db::kTablesBucket) continue;
    rows.push_back(NamedRow(name, name));
  }
  return rows;
}

Rows Scopes(const SystemView& view) {
  Rows rows;
  for (const auto& [bucket, info] : view.engine.database().catalog()->buckets()) {
    if (!view.sees_bucket(bucket) || bucket == db::kTablesBucket) continue;
    for (const auto& [name, scope] : info.scopes) {
      rows.push_back(NamedRow(name, bucket + "." + name));
      rows.back().Set("bucket", bucket);
    }
  }
  return rows;
}

Rows Keyspaces(const SystemView& view) {
  Rows rows;
  for (const auto& [id, keyspace] : view.engine.database().catalog()->keyspaces()) {
    const db::KeyspaceName& name = keyspace->name;
    if (!view.sees_bucket(name.bucket)) continue;
    rows.push_back(
        NamedRow(name.collection, name.bucket + "." + name.scope + "." + name.collection));
    rows.back().Set("bucket", name.bucket);
    rows.back().Set("scope", name.scope);
  }
  return rows;
}

// `a`, (`a`.`b`), (`a`[0]): as Couchbase prints them, for clients that compare the texts.
std::string PathText(const std::string& path) {
  if (path == "META().id") return "(meta().`id`)";
  const Result<json::Path> parsed = json::Path::Parse(path);
  if (!parsed) return path;
  std::string text;
  for (const json::PathStep& step : parsed->steps()) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      text = text.empty() ? BackQuoted(*name) : fmt::format("({}.{})", text, BackQuoted(*name));
    } else {
      text = fmt::format("({}[{}])", text.empty() ? "self" : text, std::get<int64_t>(step));
    }
  }
  return text.empty() ? "self" : text;
}

std::string KeyText(const db::IndexPart& part) {
  std::string text = part.expression.empty() ? PathText(part.path) : part.expression;
  if (part.expression.empty() && part.each_element) {
    text = fmt::format("({} {})", part.distinct ? "distinct" : "all", text);
  }
  if (part.include_missing) text += " INCLUDE MISSING";
  if (part.descending) text += " DESC";
  return text;
}

// Clients wait until an index is "online".
std::string_view StateText(db::Index::State state) {
  switch (state) {
    case db::Index::State::kBuilding:
      return "building";
    case db::Index::State::kReady:
      return "online";
    case db::Index::State::kDeferred:
      return "deferred";
    case db::Index::State::kInvalid:
      break;
  }
  return "offline";
}

Value IndexRow(const db::KeyspaceName& keyspace, const db::Index& index) {
  const db::IndexDefinition& definition = index.definition();
  Value keys = Value::EmptyArray();
  for (const db::IndexPart& part : definition.parts) keys.Append(Value(KeyText(part)));
  Value row = Value::Object({{"id", fmt::format("{:016x}", index.id())},
                             {"name", definition.name},
                             {"bucket_id", keyspace.bucket},
                             {"scope_id", keyspace.scope},
                             {"keyspace_id", keyspace.collection},
                             {"namespace_id", kNamespace},
                             {"datastore_id", kDatastore},
                             {"index_key", std::move(keys)},
                             {"state", StateText(index.state())},
                             {"using", "gsi"}});
  if (definition.primary) row.Set("is_primary", Value(true));
  if (!definition.where.empty()) row.Set("condition", Value(definition.where));
  return row;
}

Rows Indexes(const SystemView& view) {
  Rows rows;
  for (const auto& [id, keyspace] : view.engine.database().catalog()->keyspaces()) {
    if (!view.sees_bucket(keyspace->name.bucket)) continue;
    for (const auto& index : keyspace->indexes) rows.push_back(IndexRow(keyspace->name, *index));
  }
  return rows;
}

Rows Active(const SystemView& view) {
  Rows rows;
  for (const auto& request : view.active.List()) {
    if (view.sees_request(request->user)) rows.push_back(request->Describe(view.now_ms));
  }
  return rows;
}

Rows Completed(const SystemView& view) {
  Rows rows;
  for (const CompletedRequest& request : view.completed.List()) {
    if (view.sees_request(request.user)) rows.push_back(request.Describe());
  }
  return rows;
}

Rows Prepareds(const SystemView& view) {
  const auto sees = [&](const db::KeyspaceName& keyspace) {
    return view.sees_bucket(keyspace.bucket);
  };
  Rows rows;
  for (const auto& [name, plan] : view.engine.Named()) {
    if (std::ranges::all_of(plan->reads, sees) && std::ranges::all_of(plan->writes, sees)) {
      rows.push_back(DescribePrepared(name, *plan));
    }
  }
  return rows;
}

struct Table {
  std::string_view name;
  Rows (*rows)(const SystemView&);
};
constexpr Table kTables[] = {
    {"active_requests", Active}, {"all_indexes", Indexes}, {"all_keyspaces", Keyspaces},
    {"all_scopes", Scopes},      {"buckets", Buckets},     {"completed_requests", Completed},
    {"datastores", Datastores},  {"dual", Dual},           {"functions", Functions},
    {"indexes", Indexes},        {"keyspaces", Keyspaces}, {"my_user_info", Me},
    {"namespaces", Namespaces},  {"nodes", Nodes},         {"prepareds", Prepareds},
    {"scopes", Scopes},          {"user_info", Users}};

}  // namespace

Result<std::vector<Value>> SystemRows(const SystemView& view, std::string_view name) {
  std::string known;
  for (const Table& table : kTables) {
    if (table.name == name) return table.rows(view);
    known += (known.empty() ? "" : ", ") + std::string(table.name);
  }
  if (db::SameColumnName(name, "comdb2_users")) return Comdb2Users(view);
  if (db::SameColumnName(name, "comdb2_tunables")) {
    return QueryFail(
        QueryCode::kKeyspaceNotFound,
        "there is no comdb2_tunables: this server has other settings than Comdb2, which "
        "`sluice config print` shows");
  }
  if (IsSystemTableName(name)) {
    return QueryFail(QueryCode::kKeyspaceNotFound, "there is no system table {}; there are {}",
                     name, fmt::join(SystemTableNames(), ", "));
  }
  return QueryFail(QueryCode::kKeyspaceNotFound, "there is no system:{}; there are {}", name,
                   known);
}

}  // namespace sluice::query
