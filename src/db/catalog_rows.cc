#include "db/catalog_rows.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::db {
namespace {

std::string EntryKey(std::string_view kind, std::string_view name) {
  return fmt::format("{}{}/{}", kCatalogPrefix, kind, name);
}

Status Malformed(std::string_view what) {
  return Error(Code::kCorruption, "catalog.corrupt",
               "a stored {} entry of the catalog is malformed", what);
}

std::string Text(const json::Value& value) {
  return value.is_string() ? std::string(value.AsString()) : std::string();
}

uint64_t Number(const json::Value& value) {
  return value.is_int() ? static_cast<uint64_t>(value.AsInt()) : 0;
}

bool Flag(const json::Value& value) { return value.is_bool() && value.AsBool(); }

}  // namespace

std::string BucketRowKey(std::string_view bucket) { return EntryKey("bucket", bucket); }
std::string ScopeRowKey(std::string_view bucket, std::string_view scope) {
  return EntryKey("scope", fmt::format("{}/{}", bucket, scope));
}
std::string KeyspaceRowKey(KeyspaceId id) {
  return EntryKey("keyspace", fmt::format("{:010}", id));
}
std::string IndexRowKey(IndexId id) { return EntryKey("index", fmt::format("{:010}", id)); }
std::string TypeRowKey(std::string_view type) { return EntryKey("type", type); }
std::string FollowerRowKey(std::string_view follower) { return EntryKey("follower", follower); }
std::string IdsRowKey() { return std::string(kCatalogPrefix) + "ids"; }

json::Value ToJson(const KeyspaceInfo& keyspace) {
  json::Value value =
      json::Value::Object({{"id", keyspace.id},
                           {"bucket", keyspace.name.bucket},
                           {"scope", keyspace.name.scope},
                           {"collection", keyspace.name.collection},
                           {"max_expiry_ms", json::Value::Unsigned(keyspace.max_expiry_ms)}});
  if (keyspace.table != nullptr) value.Set("table", ToJson(*keyspace.table));
  return value;
}

Result<KeyspaceInfo> KeyspaceFromJson(const json::Value& value) {
  KeyspaceInfo keyspace;
  keyspace.id = static_cast<KeyspaceId>(Number(value["id"]));
  keyspace.name.bucket = Text(value["bucket"]);
  keyspace.name.scope = Text(value["scope"]);
  keyspace.name.collection = Text(value["collection"]);
  keyspace.max_expiry_ms = Number(value["max_expiry_ms"]);
  if (keyspace.id == 0 || keyspace.name.bucket.empty() || keyspace.name.scope.empty() ||
      keyspace.name.collection.empty()) {
    return Unexpected(Malformed("keyspace"));
  }
  if (value["table"].is_missing()) return keyspace;
  ASSIGN_OR_RETURN(TableSchema schema, TableSchemaFromJson(value["table"]));
  schema.name = keyspace.name.collection;
  keyspace.table = std::make_shared<const TableSchema>(std::move(schema));
  return keyspace;
}

namespace {

json::Value ToJson(const IndexPart& part) {
  json::Value json = part.expression.empty()
                         ? json::Value::Object({{"path", part.path}})
                         : json::Value::Object({{"expression", part.expression}});
  json.Set("each", part.each_element);
  json.Set("distinct", part.distinct);
  json.Set("desc", part.descending);
  json.Set("include_missing", part.include_missing);
  return json;
}

IndexPart PartFromJson(const json::Value& json) {
  IndexPart part;
  part.path = Text(json["path"]);
  part.expression = Text(json["expression"]);
  part.each_element = Flag(json["each"]);
  part.distinct = json["distinct"].is_missing() || Flag(json["distinct"]);
  part.descending = Flag(json["desc"]);
  part.include_missing = Flag(json["include_missing"]);
  return part;
}

}  // namespace

// An invalid index has lost its rows: it is built anew once its text compiles.
json::Value ToJson(const Index& index) {
  const IndexDefinition& definition = index.definition();
  json::Value parts = json::Value::EmptyArray();
  for (const IndexPart& part : definition.parts) parts.Append(ToJson(part));
  const Index::State state =
      index.state() == Index::State::kInvalid ? Index::State::kBuilding : index.state();
  json::Value value = json::Value::Object({{"id", index.id()},
                                           {"keyspace", index.keyspace()},
                                           {"name", definition.name},
                                           {"primary", definition.primary},
                                           {"parts", std::move(parts)},
                                           {"where", definition.where},
                                           {"state", IndexStateName(state)}});
  if (definition.unique) value.Set("unique", true);
  if (definition.many_nulls) value.Set("many_nulls", true);
  return value;
}

Result<IndexEntry> IndexFromJson(const json::Value& value) {
  IndexEntry entry;
  entry.id = static_cast<IndexId>(Number(value["id"]));
  entry.keyspace = static_cast<KeyspaceId>(Number(value["keyspace"]));
  entry.definition.name = Text(value["name"]);
  entry.definition.primary = Flag(value["primary"]);
  entry.definition.unique = Flag(value["unique"]);
  entry.definition.many_nulls = Flag(value["many_nulls"]);
  for (const json::Value& part : value["parts"].items()) {
    entry.definition.parts.push_back(PartFromJson(part));
  }
  entry.definition.where = Text(value["where"]);
  const std::string state = Text(value["state"]);
  if (state == "ready" || Flag(value["ready"])) {  // the latter in version 1
    entry.state = Index::State::kReady;
  } else if (state == "deferred") {
    entry.state = Index::State::kDeferred;
  } else if (!state.empty() && state != "building") {
    return Unexpected(Malformed("index"));
  }
  if (entry.id == 0 || entry.keyspace == 0) return Unexpected(Malformed("index"));
  return entry;
}

json::Value ToJson(const FollowerInfo& follower) {
  json::Value keyspaces = json::Value::EmptyArray();
  for (KeyspaceId id : follower.keyspaces) keyspaces.Append(id);
  json::Value value = json::Value::Object({{"name", follower.name},
                                           {"keyspaces", std::move(keyspaces)},
                                           {"before", follower.needs_before},
                                           {"after", follower.needs_after},
                                           {"holds_log", follower.holds_log},
                                           {"lanes", follower.lanes}});
  if (follower.pattern) {
    value.Set("pattern", json::Value::Object({{"bucket", follower.pattern->bucket},
                                              {"scope", follower.pattern->scope},
                                              {"collection", follower.pattern->collection}}));
  }
  return value;
}

Result<FollowerInfo> FollowerFromJson(const json::Value& value) {
  FollowerInfo follower;
  follower.name = Text(value["name"]);
  for (const json::Value& id : value["keyspaces"].items()) {
    follower.keyspaces.push_back(static_cast<KeyspaceId>(Number(id)));
  }
  if (const json::Value& pattern = value["pattern"]; pattern.is_object()) {
    follower.pattern = KeyspaceName{.bucket = Text(pattern["bucket"]),
                                    .scope = Text(pattern["scope"]),
                                    .collection = Text(pattern["collection"])};
  }
  follower.needs_before = Flag(value["before"]);
  follower.needs_after = Flag(value["after"]);
  follower.holds_log = Flag(value["holds_log"]);
  follower.lanes = static_cast<uint16_t>(Number(value["lanes"]));
  if (follower.name.empty() || follower.lanes == 0) return Unexpected(Malformed("follower"));
  return follower;
}

std::unique_ptr<RowIterator> CatalogRows(const storage::Store& store, std::string_view prefix) {
  constexpr uint16_t kNoOtherShard = kDefinitionsShard + 1;
  return Rows(store, kNoOtherShard)
      .NewIterator(RowFamily::kMeta, kDefinitionsShard, {std::string(prefix), PrefixEnd(prefix)});
}

std::string EncodeMetaJson(const json::Value& value, char version) {
  std::string stored(1, version);
  json::Print(value, &stored);
  return stored;
}

Result<json::Value> DecodeMetaJson(std::string_view key, std::string_view stored, char newest) {
  if (stored.empty() || stored[0] < kMetaRowVersion || stored[0] > newest) {
    return Fail(Code::kCorruption, "catalog.corrupt", "the stored row '{}' has an unknown version",
                key);
  }
  Result<json::Value> value = json::Parse(stored.substr(1));
  if (!value || !value->is_object()) {
    return Fail(Code::kCorruption, "catalog.corrupt", "the stored row '{}' is not a JSON object",
                key);
  }
  return value;
}

}  // namespace sluice::db
