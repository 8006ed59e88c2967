// The catalog: buckets, scopes, collections, tables, indexes, document types and followers.
//
// A Catalog is immutable and shared. A change makes a new one, on the committer's thread, in the
// commit that stores it. A reader may hold a catalog for as long as it likes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/document_policy.h"
#include "db/index.h"
#include "db/table_schema.h"
#include "db/types.h"

namespace sluice::db {

// A durable follower: a name that has cursors. While it exists, the changes of its keyspaces are
// logged, and the log is kept from its lowest cursor on.
struct FollowerInfo {
  std::string name;
  std::vector<KeyspaceId> keyspaces;  // sorted
  // New keyspaces whose names match it are followed from the moment they are made.
  std::optional<KeyspaceName> pattern;
  bool needs_before = false;
  bool needs_after = true;
  bool holds_log = true;  // false: the log may be trimmed past it; it then gets a backfill
  uint16_t lanes = 1;
};

struct KeyspaceInfo {
  KeyspaceId id = 0;
  KeyspaceName name;
  uint64_t max_expiry_ms = 0;  // documents live at most this long; 0 for no limit
  std::vector<std::shared_ptr<const Index>> indexes;
  std::shared_ptr<const TableSchema> table;                // null for a collection
  std::vector<TypeDefinition> types;                       // by name
  std::shared_ptr<const DocumentPolicy> policy = nullptr;  // of the types; null if there are none

  // Derived from followers; not stored.
  bool logged = false;
  bool log_before = false;
  bool log_after = false;
};

// Whether a new index gets its rows at once or when Database::BuildIndex is called.
enum class IndexBuild : uint8_t { kNow, kDeferred };

struct ScopeInfo {
  std::map<std::string, KeyspaceId, std::less<>> collections;
};

struct BucketInfo {
  std::map<std::string, ScopeInfo, std::less<>> scopes;
};

class Catalog {
 public:
  const std::map<std::string, BucketInfo, std::less<>>& buckets() const { return buckets_; }
  const std::map<std::string, FollowerInfo, std::less<>>& followers() const { return followers_; }
  const std::map<KeyspaceId, std::shared_ptr<const KeyspaceInfo>>& keyspaces() const {
    return keyspaces_;
  }

  // Null when there is none.
  const KeyspaceInfo* Find(KeyspaceId id) const;
  // An error says which of bucket, scope and collection is missing, and lists those that exist. The
  // result lives as long as this catalog.
  Result<const BucketInfo*> FindBucket(std::string_view bucket) const;
  Result<const ScopeInfo*> FindScope(std::string_view bucket, std::string_view scope) const;
  Result<std::shared_ptr<const KeyspaceInfo>> Resolve(const KeyspaceName& name) const;
  // A table by its name, in any case of letters; null when there is none.
  std::shared_ptr<const KeyspaceInfo> FindTable(std::string_view table) const;
  // The keyspace that has a document type of this name; null when there is none.
  const KeyspaceInfo* FindType(std::string_view type) const;
  bool typed() const;  // some keyspace has types
  const FollowerInfo* FindFollower(std::string_view name) const;

  bool HasTransientFollowers() const { return !transient_.empty(); }

  uint64_t version() const { return version_; }

 private:
  friend class CatalogEdit;
  uint64_t version_ = 0;
  KeyspaceId next_keyspace_ = 1;
  IndexId next_index_ = 1;
  std::map<std::string, BucketInfo, std::less<>> buckets_;
  std::map<KeyspaceId, std::shared_ptr<const KeyspaceInfo>> keyspaces_;
  std::map<std::string, FollowerInfo, std::less<>> followers_;
  // Followers that do not outlive this process (change feeds of connected clients), by keyspace.
  std::map<KeyspaceId, uint32_t> transient_;
};

}  // namespace sluice::db
