#include "rest/catalog_view.h"

#include <utility>

#include "base/quantity.h"

namespace sluice::rest {

json::Value IndexView(const db::Index& index) {
  const db::IndexDefinition& definition = index.definition();
  json::Value parts = json::Value::EmptyArray();
  for (const db::IndexPart& part : definition.parts) {
    json::Value view = part.expression.empty()
                           ? json::Value::Object({{"path", part.path}})
                           : json::Value::Object({{"expression", part.expression}});
    if (part.each_element) view.Set("each", true);
    if (!part.distinct) view.Set("distinct", false);
    if (part.descending) view.Set("desc", true);
    if (part.include_missing) view.Set("include_missing", true);
    parts.Append(std::move(view));
  }
  json::Value view = json::Value::Object({{"name", definition.name},
                                          {"state", db::IndexStateName(index.state())},
                                          {"parts", std::move(parts)}});
  if (definition.primary) view.Set("primary", true);
  if (!definition.where.empty()) view.Set("where", definition.where);
  if (!index.problem().ok()) view.Set("problem", index.problem().message());
  return view;
}

Result<json::Value> CollectionView(const Context& context, const db::KeyspaceInfo& keyspace,
                                   bool counts) {
  json::Value view = json::Value::Object(
      {{"name", keyspace.name.collection}, {"keyspace", keyspace.name.ToString()}});
  if (keyspace.max_expiry_ms != 0) view.Set("max_expiry", FormatDurationMs(keyspace.max_expiry_ms));
  if (counts) {
    ASSIGN_OR_RETURN(const uint64_t documents, context.database.CountDocuments(keyspace.id));
    view.Set("documents", json::Value::Unsigned(documents));
  }
  if (!keyspace.indexes.empty()) {
    json::Value indexes = json::Value::EmptyArray();
    for (const auto& index : keyspace.indexes) indexes.Append(IndexView(*index));
    view.Set("indexes", std::move(indexes));
  }
  return view;
}

Result<json::Value> ScopeView(const Context& context, const db::Catalog& catalog,
                              std::string_view bucket, std::string_view scope, bool counts) {
  ASSIGN_OR_RETURN(const db::ScopeInfo* info, catalog.FindScope(bucket, scope));
  json::Value collections = json::Value::EmptyArray();
  for (const auto& [name, id] : info->collections) {
    ASSIGN_OR_RETURN(json::Value view, CollectionView(context, *catalog.Find(id), counts));
    collections.Append(std::move(view));
  }
  return json::Value::Object({{"name", scope}, {"collections", std::move(collections)}});
}

Result<json::Value> BucketView(const Context& context, const db::Catalog& catalog,
                               std::string_view bucket, bool counts) {
  ASSIGN_OR_RETURN(const db::BucketInfo* info, catalog.FindBucket(bucket));
  json::Value scopes = json::Value::EmptyArray();
  for (const auto& entry : info->scopes) {
    ASSIGN_OR_RETURN(json::Value view, ScopeView(context, catalog, bucket, entry.first, counts));
    scopes.Append(std::move(view));
  }
  return json::Value::Object({{"name", bucket}, {"scopes", std::move(scopes)}});
}

}  // namespace sluice::rest
