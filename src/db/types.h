// Names, numbers and limits that every file of this module uses.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/parse.h"

namespace sluice::db {

using KeyspaceId = uint32_t;  // never used again after a drop
using IndexId = uint32_t;
using ShardId = uint16_t;
using Sequence = uint64_t;  // numbers the commits of one shard, from 1
using Cas = uint64_t;       // a document's version: a hybrid-clock stamp; 0 means none

inline constexpr uint16_t kMaxShards = 256;
inline constexpr size_t kMaxKeyBytes = 1024;
inline constexpr size_t kMaxDocumentBytes = json::kMaxDocumentBytes;  // body and xattrs together
inline constexpr size_t kMaxNameBytes = 100;
inline constexpr size_t kMaxXattrsBytes = 1ull << 20;
inline constexpr size_t kMaxCommitWrites = 10'000;
inline constexpr size_t kMaxCommitBytes = 64ull << 20;
inline constexpr std::string_view kDefaultName = "_default";

// The shard of what belongs to the database as a whole: the catalog, definitions, accounts, apps.
inline constexpr ShardId kDefinitionsShard = 0;
// The shard of all rows of tables: their keys, references and transactions span tables.
inline constexpr ShardId kTablesShard = 0;

// The vBucket of a key, as clients of Couchbase compute it. Handlers of functions see it, too.
inline constexpr uint32_t kVBuckets = 1024;
uint16_t VBucketOf(std::string_view key);
// The shard of what a key alone places: that of the key's vBucket. Part of the stored form.
ShardId ShardOfKey(std::string_view key, uint16_t shards);
// The shard of a document: its key's, unless it is a row of a table.
ShardId ShardOf(KeyspaceId keyspace, std::string_view key, uint16_t shards);

// A bucket collection's three names, written `bucket` (both others `_default`),
// or `bucket.scope.collection`.
struct KeyspaceName {
  std::string bucket;
  std::string scope = std::string(kDefaultName);
  std::string collection = std::string(kDefaultName);

  static Result<KeyspaceName> Parse(std::string_view text);
  std::string ToString() const;
  // As a pattern the scope and the collection may be "*", for all of them.
  bool wildcard() const { return scope == "*" || collection == "*"; }
  // Whether two names or patterns have a keyspace in common.
  bool Overlaps(const KeyspaceName& other) const;
  auto operator<=>(const KeyspaceName&) const = default;
};

// Letters, digits, `_`, `-` and `%`, at most kMaxNameBytes. Scopes and collections may begin with
// `_` only when the system makes them. `what` names the thing in the message ("bucket").
Status CheckName(std::string_view what, std::string_view name);

// Not empty, at most kMaxKeyBytes, valid UTF-8.
Status CheckKey(std::string_view key);

}  // namespace sluice::db
