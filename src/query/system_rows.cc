#include "query/system_rows.h"

#include <algorithm>
#include <utility>

#include "query/error.h"

namespace sluice::query {
namespace {

using Rows = std::vector<Value>;

Rows Buckets(const SystemView& view) {
  Rows rows;
  for (const auto& [name, bucket] : view.engine.database().catalog()->buckets()) {
    if (!view.sees_bucket(name) || name == db::kTablesBucket) continue;
    rows.push_back(
        Value::Object({{"name", name}, {"namespace", "default"}, {"path", "default:" + name}}));
  }
  return rows;
}

Rows Scopes(const SystemView& view) {
  Rows rows;
  for (const auto& [bucket, info] : view.engine.database().catalog()->buckets()) {
    if (!view.sees_bucket(bucket) || bucket == db::kTablesBucket) continue;
    for (const auto& [name, scope] : info.scopes) {
      rows.push_back(Value::Object({{"name", name},
                                    {"bucket", bucket},
                                    {"namespace", "default"},
                                    {"path", "default:" + bucket + "." + name}}));
    }
  }
  return rows;
}

Rows Keyspaces(const SystemView& view) {
  Rows rows;
  for (const auto& [id, keyspace] : view.engine.database().catalog()->keyspaces()) {
    const db::KeyspaceName& name = keyspace->name;
    if (!view.sees_bucket(name.bucket)) continue;
    rows.push_back(Value::Object(
        {{"name", name.collection},
         {"bucket", name.bucket},
         {"scope", name.scope},
         {"namespace", "default"},
         {"path", "default:" + name.bucket + "." + name.scope + "." + name.collection}}));
  }
  return rows;
}

std::string KeyText(const db::IndexPart& part) {
  std::string text = part.expression.empty() ? part.path : part.expression;
  if (part.descending) text += " DESC";
  return text;
}

Value IndexRow(const db::KeyspaceName& keyspace, const db::Index& index) {
  const db::IndexDefinition& definition = index.definition();
  Value keys = Value::EmptyArray();
  for (const db::IndexPart& part : definition.parts) keys.Append(Value(KeyText(part)));
  Value row = Value::Object({{"name", definition.name},
                             {"bucket_id", keyspace.bucket},
                             {"scope_id", keyspace.scope},
                             {"keyspace_id", keyspace.collection},
                             {"namespace_id", "default"},
                             {"index_key", std::move(keys)},
                             {"state", db::IndexStateName(index.state())},
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
    {"active_requests", Active}, {"buckets", Buckets},     {"completed_requests", Completed},
    {"indexes", Indexes},        {"keyspaces", Keyspaces}, {"prepareds", Prepareds},
    {"scopes", Scopes}};

}  // namespace

Result<std::vector<Value>> SystemRows(const SystemView& view, std::string_view name) {
  std::string known;
  for (const Table& table : kTables) {
    if (table.name == name) return table.rows(view);
    known += (known.empty() ? "" : ", ") + std::string(table.name);
  }
  if (name.starts_with("comdb2_")) {
    return QueryFail(QueryCode::kKeyspaceNotFound,
                     "there is no system table {}; there are comdb2_columns, comdb2_constraints, "
                     "comdb2_functions, comdb2_keycomponents, comdb2_keys, comdb2_procedures, "
                     "comdb2_queues, comdb2_tables, comdb2_triggers",
                     name);
  }
  return QueryFail(QueryCode::kKeyspaceNotFound, "there is no system:{}; there are {}", name,
                   known);
}

}  // namespace sluice::query
