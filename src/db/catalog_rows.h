// Catalog entries as rows of the meta family: a version byte, then JSON (docs/formats/catalog.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/catalog.h"
#include "db/index.h"
#include "db/rows.h"
#include "json/value.h"
#include "storage/store.h"

namespace sluice::db {

inline constexpr std::string_view kCatalogPrefix = "catalog/";

std::string BucketRowKey(std::string_view bucket);
std::string ScopeRowKey(std::string_view bucket, std::string_view scope);
std::string KeyspaceRowKey(KeyspaceId id);
std::string IndexRowKey(IndexId id);
std::string TypeRowKey(std::string_view type);
std::string FollowerRowKey(std::string_view follower);
std::string IdsRowKey();

json::Value ToJson(const KeyspaceInfo& keyspace);
json::Value ToJson(const Index& index);
json::Value ToJson(const FollowerInfo& follower);
Result<KeyspaceInfo> KeyspaceFromJson(const json::Value& value);
// An index as it is stored: its texts are not compiled yet.
struct IndexEntry {
  IndexId id = 0;
  KeyspaceId keyspace = 0;
  IndexDefinition definition;
  Index::State state = Index::State::kBuilding;
};
Result<IndexEntry> IndexFromJson(const json::Value& value);
Result<FollowerInfo> FollowerFromJson(const json::Value& value);

// The stored rows whose keys begin with the prefix. The catalog belongs to the definitions' shard.
std::unique_ptr<RowIterator> CatalogRows(const storage::Store& store, std::string_view prefix);

// Values of the meta family that hold JSON.
inline constexpr char kMetaRowVersion = 1;
inline constexpr char kIndexRowVersion = 2;
std::string EncodeMetaJson(const json::Value& value, char version = kMetaRowVersion);
// Versions up to `newest` are accepted.
Result<json::Value> DecodeMetaJson(std::string_view key, std::string_view stored,
                                   char newest = kMetaRowVersion);

}  // namespace sluice::db
