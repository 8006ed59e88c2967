// One change of the catalog.
//
// The catalog is immutable and shared: readers hold a pointer to the one that was current when they
// began. An edit copies the top level of the old catalog (maps of pointers), replaces the entries
// that change by changed copies, and collects the rows that make the change durable. Nothing is
// visible to others before Database publishes the result of Finish, after the rows were written.
//
// Invariants:
// 1. `next_` and `rows_` describe the same change: each method that changes one changes the other.
//    FromRows makes the same catalog of the rows (catalog_load.cc), and that is the one that is
//    published, here and on a standby. Transient followers have no rows and stay in memory.
// 2. After an error the edit is thrown away as a whole, so a method may have changed something
//    before it fails.
// 3. An entry that readers may hold is never changed in place: copy it, change the copy, put it
//    back.
// 4. Ids of keyspaces and indexes are never used twice (next_keyspace_, next_index_), because the
//    documents and index rows of a dropped one are deleted as a range of its id, in other shards
//    later than this change.
// 5. Derive computes the fields that follow from followers (KeyspaceInfo::logged, log_before,
//    log_after), for edits and for loading alike. They are not stored.
//
// The formats of the rows are in docs/formats/catalog.md and catalog_rows.h. Tables are in
// catalog_edit_tables.cc, document types in catalog_edit_types.cc.
#include "db/catalog_edit.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/log.h"
#include "db/catalog_rows.h"
#include "json/print.h"

namespace sluice::db {
namespace {

constexpr size_t kMaxKeyspaces = 10'000;
constexpr uint64_t kLongestExpiryMs = 36'500ull * 24 * 3600 * 1000;
constexpr size_t kMaxIndexesPerKeyspace = 64;
constexpr size_t kMaxFollowerNameBytes = 512;

Status CheckUserName(std::string_view what, std::string_view name) {
  RETURN_IF_ERROR(CheckName(what, name));
  if (name.front() == '_' || name.front() == '%') {
    return Error(Code::kInvalidArgument, "keyspace.invalid_name",
                 "a {} name can't begin with '{}': such names are the system's, got '{}'", what,
                 name.front(), name);
  }
  return OkStatus();
}

// Only statements about tables change the bucket of tables.
Status RefuseTables(std::string_view bucket) {
  if (bucket != kTablesBucket) return OkStatus();
  return Error(Code::kInvalidArgument, "keyspace.is_system",
               "'{}' holds the tables: use CREATE TABLE and DROP TABLE", bucket);
}

}  // namespace

CatalogEdit::CatalogEdit(const Catalog& base, const IndexCompiler* compiler)
    : compiler_(compiler), next_(std::make_shared<Catalog>(base)) {
  // Plans of statements are valid for one version.
  ++next_->version_;
}

std::shared_ptr<const Catalog> CatalogEdit::Finish() {
  Derive();
  return std::move(next_);
}

// A keyspace is logged if it has a follower, with the images that one of its followers needs.
void CatalogEdit::Derive() {
  std::map<KeyspaceId, std::array<bool, 3>> wanted;  // logged, before, after
  for (const auto& [name, follower] : next_->followers_) {
    for (KeyspaceId id : follower.keyspaces) {
      auto& [logged, before, after] = wanted[id];
      logged = true;
      before |= follower.needs_before;
      after |= follower.needs_after;
    }
  }
  for (const auto& [id, count] : next_->transient_) {
    auto& [logged, before, after] = wanted[id];
    logged = after = true;
  }
  for (auto& [id, info] : next_->keyspaces_) {
    const auto [logged, before, after] = wanted[id];
    if (info->logged == logged && info->log_before == before && info->log_after == after) continue;
    // Only keyspaces that change are copied: others stay shared with the catalog before.
    auto changed = std::make_shared<KeyspaceInfo>(*info);
    changed->logged = logged;
    changed->log_before = before;
    changed->log_after = after;
    info = std::move(changed);
  }
}

// Rows are written in this order, so of two writes of one key within an edit the last counts.
void CatalogEdit::PutRow(std::string key, const std::string& value) {
  rows_.push_back({RowFamily::kMeta, kDefinitionsShard, std::move(key), value, {}});
}

void CatalogEdit::DeleteRow(std::string key) {
  rows_.push_back({RowFamily::kMeta, kDefinitionsShard, std::move(key), {}, {}});
}

void CatalogEdit::PutIds() {
  PutRow(IdsRowKey(), EncodeMetaJson(json::Value::Object(
                          {{"keyspace", next_->next_keyspace_}, {"index", next_->next_index_}})));
}

void CatalogEdit::PutKeyspace(KeyspaceInfo info) {
  PutRow(KeyspaceRowKey(info.id), EncodeMetaJson(ToJson(info)));
  const KeyspaceId id = info.id;
  next_->keyspaces_[id] = std::make_shared<const KeyspaceInfo>(std::move(info));
}

// Resolve is called for its error, which lists the names that exist.
Result<BucketInfo*> CatalogEdit::FindBucket(const std::string& bucket) {
  const auto found = next_->buckets_.find(bucket);
  if (found == next_->buckets_.end()) {
    return Unexpected(next_->Resolve({.bucket = bucket}).error());
  }
  return &found->second;
}

Result<ScopeInfo*> CatalogEdit::FindScope(const std::string& bucket, const std::string& scope) {
  ASSIGN_OR_RETURN(BucketInfo * info, FindBucket(bucket));
  const auto found = info->scopes.find(scope);
  if (found == info->scopes.end()) {
    return Unexpected(next_->Resolve({.bucket = bucket, .scope = scope}).error());
  }
  return &found->second;
}

Status CatalogEdit::CreateBucket(const std::string& bucket) {
  RETURN_IF_ERROR(CheckUserName("bucket", bucket));
  if (next_->buckets_.contains(bucket)) {
    return Error(Code::kAlreadyExists, "bucket.exists", "bucket '{}' exists already", bucket);
  }
  // A statement names a table and a bucket in the same way, so they share one set of names.
  if (next_->FindTable(bucket) != nullptr) {
    return Error(Code::kAlreadyExists, "table.exists", "there is a table '{}'", bucket);
  }
  next_->buckets_[bucket] = {};
  next_->buckets_[bucket].scopes[std::string(kDefaultName)] = {};
  PutRow(BucketRowKey(bucket), EncodeMetaJson(json::Value::EmptyObject()));
  PutRow(ScopeRowKey(bucket, kDefaultName), EncodeMetaJson(json::Value::EmptyObject()));
  return CreateCollection({.bucket = bucket}, 0);
}

// DropKeyspace changes no names: each caller removes the name from its scope, or the scope as a
// whole.
Status CatalogEdit::DropBucket(const std::string& bucket) {
  RETURN_IF_ERROR(RefuseTables(bucket));
  ASSIGN_OR_RETURN(const BucketInfo* info, FindBucket(bucket));
  for (const auto& [scope_name, scope] : info->scopes) {
    for (const auto& [name, id] : scope.collections) DropKeyspace(id);
    DeleteRow(ScopeRowKey(bucket, scope_name));
  }
  DeleteRow(BucketRowKey(bucket));
  next_->buckets_.erase(bucket);
  return OkStatus();
}

Status CatalogEdit::CreateScope(const std::string& bucket, const std::string& scope) {
  RETURN_IF_ERROR(RefuseTables(bucket));
  RETURN_IF_ERROR(CheckUserName("scope", scope));
  ASSIGN_OR_RETURN(BucketInfo * info, FindBucket(bucket));
  if (info->scopes.contains(scope)) {
    return Error(Code::kAlreadyExists, "scope.exists", "scope '{}.{}' exists already", bucket,
                 scope);
  }
  info->scopes[scope] = {};
  PutRow(ScopeRowKey(bucket, scope), EncodeMetaJson(json::Value::EmptyObject()));
  return OkStatus();
}

Status CatalogEdit::DropScope(const std::string& bucket, const std::string& scope) {
  if (scope == kDefaultName) {
    return Error(Code::kInvalidArgument, "scope.is_default", "the _default scope can't be dropped");
  }
  ASSIGN_OR_RETURN(const ScopeInfo* info, FindScope(bucket, scope));
  for (const auto& [name, id] : info->collections) DropKeyspace(id);
  DeleteRow(ScopeRowKey(bucket, scope));
  next_->buckets_[bucket].scopes.erase(scope);
  return OkStatus();
}

namespace {

Status CheckMaxExpiry(uint64_t max_expiry_ms) {
  if (max_expiry_ms <= kLongestExpiryMs) return OkStatus();
  return Error(Code::kInvalidArgument, "collection.invalid_expiry",
               "a collection's max_expiry is at most 36500d, got {} ms", max_expiry_ms);
}

}  // namespace

Status CatalogEdit::CreateCollection(const KeyspaceName& name, uint64_t max_expiry_ms) {
  RETURN_IF_ERROR(RefuseTables(name.bucket));
  // The collection _default exists only in the scope _default, made with its bucket.
  const bool is_default = name.scope == kDefaultName && name.collection == kDefaultName;
  if (!is_default) RETURN_IF_ERROR(CheckUserName("collection", name.collection));
  ASSIGN_OR_RETURN(ScopeInfo * scope, FindScope(name.bucket, name.scope));
  if (scope->collections.contains(name.collection)) {
    return Error(Code::kAlreadyExists, "collection.exists", "collection '{}' exists already",
                 name.ToString());
  }
  RETURN_IF_ERROR(CheckMaxExpiry(max_expiry_ms));
  KeyspaceInfo info;
  info.name = name;
  info.max_expiry_ms = max_expiry_ms;
  return CreateKeyspace(std::move(info));
}

// Requires that the scope exists.
Status CatalogEdit::CreateKeyspace(KeyspaceInfo info) {
  if (next_->keyspaces_.size() >= kMaxKeyspaces) {
    return Error(Code::kOverloaded, "collection.too_many",
                 "there can be at most {} collections and tables", kMaxKeyspaces);
  }
  // Collections and tables share one counter; the bit puts all rows of a table in shard 0.
  info.id = next_->next_keyspace_++;
  if (info.table != nullptr) info.id |= kTableIdBit;
  next_->buckets_[info.name.bucket].scopes[info.name.scope].collections[info.name.collection] =
      info.id;
  JoinFollowers(info);
  PutKeyspace(std::move(info));
  PutIds();
  return OkStatus();
}

Status CatalogEdit::SetMaxExpiry(const KeyspaceName& name, uint64_t max_expiry_ms) {
  RETURN_IF_ERROR(RefuseTables(name.bucket));
  RETURN_IF_ERROR(CheckMaxExpiry(max_expiry_ms));
  ASSIGN_OR_RETURN(const auto keyspace, next_->Resolve(name));
  KeyspaceInfo changed = *keyspace;
  changed.max_expiry_ms = max_expiry_ms;
  PutKeyspace(std::move(changed));
  return OkStatus();
}

Status CatalogEdit::DropCollection(const KeyspaceName& name) {
  RETURN_IF_ERROR(RefuseTables(name.bucket));
  ASSIGN_OR_RETURN(const auto keyspace, next_->Resolve(name));
  DropKeyspace(keyspace->id);
  next_->buckets_[name.bucket].scopes[name.scope].collections.erase(name.collection);
  return OkStatus();
}

// A follower with a pattern follows a new keyspace from its first document on: the keyspace and the
// follower's row are one change.
void CatalogEdit::JoinFollowers(const KeyspaceInfo& keyspace) {
  for (auto& [name, follower] : next_->followers_) {
    if (!follower.pattern || !follower.pattern->Overlaps(keyspace.name)) continue;
    follower.keyspaces.push_back(keyspace.id);
    std::ranges::sort(follower.keyspaces);
    PutRow(FollowerRowKey(name), EncodeMetaJson(ToJson(follower)));
  }
}

// A follower without a pattern keeps the ids: its owner handles the loss of a keyspace.
void CatalogEdit::LeaveFollowers(KeyspaceId id) {
  for (auto& [name, follower] : next_->followers_) {
    if (!follower.pattern || std::erase(follower.keyspaces, id) == 0) continue;
    PutRow(FollowerRowKey(name), EncodeMetaJson(ToJson(follower)));
  }
}

// The rows of the catalog go with this change. Database deletes documents, revisions and index
// rows, as ranges (dropped_keyspaces, dropped_indexes).
void CatalogEdit::DropKeyspace(KeyspaceId id) {
  LeaveFollowers(id);
  for (const auto& index : next_->keyspaces_.at(id)->indexes) {
    dropped_indexes_.push_back(index->id());
    DeleteRow(IndexRowKey(index->id()));
  }
  for (const TypeDefinition& type : next_->keyspaces_.at(id)->types) {
    DeleteRow(TypeRowKey(type.name));
  }
  next_->keyspaces_.erase(id);
  next_->transient_.erase(id);
  dropped_keyspaces_.push_back(id);
  DeleteRow(KeyspaceRowKey(id));
}

namespace {

Index::State FirstState(const IndexDefinition& definition, IndexBuild build) {
  if (build == IndexBuild::kDeferred) return Index::State::kDeferred;
  // A primary index has no rows to build: it is the order of the documents' keys.
  return definition.primary ? Index::State::kReady : Index::State::kBuilding;
}

}  // namespace

Result<IndexId> CatalogEdit::CreateIndex(const KeyspaceName& keyspace, IndexDefinition definition,
                                         IndexBuild build) {
  ASSIGN_OR_RETURN(const auto info, next_->Resolve(keyspace));
  if (!definition.primary || definition.name != kPrimaryIndexName) {
    RETURN_IF_ERROR(CheckName("index", definition.name));
  }
  for (const auto& index : info->indexes) {
    if (index->definition().name == definition.name) {
      return Fail(Code::kAlreadyExists, "index.exists", "index '{}' exists already on {}",
                  definition.name, keyspace.ToString());
    }
  }
  if (info->indexes.size() >= kMaxIndexesPerKeyspace) {
    return Fail(Code::kOverloaded, "index.too_many", "a keyspace can have at most {} indexes",
                kMaxIndexesPerKeyspace);
  }
  const IndexId id = next_->next_index_;
  const Index::State state = FirstState(definition, build);
  // Checks and compiles the definition; the id is taken only if that succeeds.
  ASSIGN_OR_RETURN(Index index, Index::Make(id, info->id, std::move(definition), state, compiler_));
  ++next_->next_index_;
  PutRow(IndexRowKey(id), EncodeMetaJson(ToJson(index), kIndexRowVersion));
  PutIds();
  auto changed = std::make_shared<KeyspaceInfo>(*info);
  changed->indexes.push_back(std::make_shared<const Index>(std::move(index)));
  next_->keyspaces_[info->id] = std::move(changed);
  return id;
}

void CatalogEdit::SetIndexState(KeyspaceId keyspace, IndexId id, Index::State state) {
  const KeyspaceInfo* info = next_->Find(keyspace);
  if (info == nullptr) return;
  auto changed = std::make_shared<KeyspaceInfo>(*info);
  for (auto& index : changed->indexes) {
    if (index->id() != id) continue;
    index = std::make_shared<const Index>(index->WithState(state));
    PutRow(IndexRowKey(id), EncodeMetaJson(ToJson(*index), kIndexRowVersion));
    // Writers keep no rows of it any more, so those that exist would go stale.
    if (!index->kept()) dropped_indexes_.push_back(id);
  }
  next_->keyspaces_[keyspace] = std::move(changed);
}

Result<std::vector<IndexId>> CatalogEdit::StartIndexes(const KeyspaceName& keyspace,
                                                       const std::vector<std::string>& names) {
  ASSIGN_OR_RETURN(const auto info, next_->Resolve(keyspace));
  std::vector<IndexId> started;
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(
        info->indexes, [&](const auto& index) { return index->definition().name == name; });
    if (found == info->indexes.end()) {
      return Fail(Code::kNotFound, "index.not_found", "there is no index '{}' on {}", name,
                  keyspace.ToString());
    }
    const Index& index = **found;
    if (index.state() == Index::State::kInvalid) return Unexpected(index.CheckReady());
    if (index.state() != Index::State::kDeferred) continue;
    const bool primary = index.definition().primary;
    SetIndexState(info->id, index.id(), primary ? Index::State::kReady : Index::State::kBuilding);
    if (!primary) started.push_back(index.id());
  }
  return started;
}

Status CatalogEdit::DropIndex(const KeyspaceName& keyspace, const std::string& name) {
  ASSIGN_OR_RETURN(const auto info, next_->Resolve(keyspace));
  auto changed = std::make_shared<KeyspaceInfo>(*info);
  const auto found = std::find_if(
      changed->indexes.begin(), changed->indexes.end(),
      [&](const std::shared_ptr<const Index>& index) { return index->definition().name == name; });
  if (found == changed->indexes.end()) {
    return Error(Code::kNotFound, "index.not_found", "there is no index '{}' on {}", name,
                 keyspace.ToString());
  }
  // A key of a table is an index of the same name: both go together.
  if (info->table != nullptr) {
    ASSIGN_OR_RETURN(changed->table, TableWithoutKey(*info->table, name));
  }
  dropped_indexes_.push_back((*found)->id());
  DeleteRow(IndexRowKey((*found)->id()));
  changed->indexes.erase(found);
  PutKeyspace(std::move(*changed));
  return OkStatus();
}

Status CatalogEdit::CreateFollower(FollowerInfo follower) {
  if (follower.name.empty() || follower.name.size() > kMaxFollowerNameBytes ||
      follower.name.find('\0') != std::string::npos) {
    return Error(Code::kInvalidArgument, "follower.invalid_name",
                 "a follower's name has 1 to {} bytes and no zero byte", kMaxFollowerNameBytes);
  }
  if (next_->followers_.contains(follower.name)) {
    return Error(Code::kAlreadyExists, "follower.exists", "follower '{}' exists already",
                 follower.name);
  }
  // The keyspaces that match now; JoinFollowers adds later ones.
  if (follower.pattern) {
    for (const auto& [id, keyspace] : next_->keyspaces_) {
      if (follower.pattern->Overlaps(keyspace->name)) follower.keyspaces.push_back(id);
    }
  } else if (follower.keyspaces.empty()) {
    return Error(Code::kInvalidArgument, "follower.no_keyspaces",
                 "follower '{}' must name at least one keyspace", follower.name);
  }
  for (KeyspaceId id : follower.keyspaces) {
    if (next_->Find(id) == nullptr) {
      return Error(Code::kNotFound, "keyspace.not_found",
                   "follower '{}' names a keyspace that does not exist", follower.name);
    }
  }
  std::vector<KeyspaceId>& ids = follower.keyspaces;
  // Sorted, and each once.
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  PutRow(FollowerRowKey(follower.name), EncodeMetaJson(ToJson(follower)));
  const std::string name = follower.name;
  next_->followers_[name] = std::move(follower);
  return OkStatus();
}

Status CatalogEdit::DropFollower(const std::string& name) {
  if (next_->followers_.erase(name) == 0) {
    return Error(Code::kNotFound, "follower.not_found", "there is no follower '{}'", name);
  }
  DeleteRow(FollowerRowKey(name));
  return OkStatus();
}

// No row: a change feed of a client needs the log only while it is connected.
Status CatalogEdit::AddTransientFollower(KeyspaceId keyspace) {
  if (next_->Find(keyspace) == nullptr) {
    return Error(Code::kNotFound, "keyspace.not_found", "the keyspace does not exist (any more)");
  }
  ++next_->transient_[keyspace];
  return OkStatus();
}

void CatalogEdit::RemoveTransientFollower(KeyspaceId keyspace) {
  const auto found = next_->transient_.find(keyspace);
  if (found != next_->transient_.end() && --found->second == 0) next_->transient_.erase(found);
}

}  // namespace sluice::db
