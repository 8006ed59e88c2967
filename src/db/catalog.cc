#include "db/catalog.h"

#include <algorithm>

namespace sluice::db {
namespace {

template <typename Map>
std::string Names(const Map& map) {
  std::string names;
  size_t shown = 0;
  for (const auto& [name, value] : map) {
    if (++shown > 10) return names + ", ...";
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace

const KeyspaceInfo* Catalog::Find(KeyspaceId id) const {
  const auto found = keyspaces_.find(id);
  return found == keyspaces_.end() ? nullptr : found->second.get();
}

Result<const BucketInfo*> Catalog::FindBucket(std::string_view bucket) const {
  const auto found = buckets_.find(bucket);
  if (found != buckets_.end()) return &found->second;
  // The message does not list the others: the client may not be allowed to know of them.
  return Fail(Code::kNotFound, "bucket.not_found", "there is no bucket '{}'", bucket);
}

Result<const ScopeInfo*> Catalog::FindScope(std::string_view bucket, std::string_view scope) const {
  ASSIGN_OR_RETURN(const BucketInfo* in, FindBucket(bucket));
  const auto found = in->scopes.find(scope);
  if (found != in->scopes.end()) return &found->second;
  return Fail(Code::kNotFound, "scope.not_found",
              "there is no scope '{}' in bucket '{}' (there are: {})", scope, bucket,
              Names(in->scopes));
}

Result<std::shared_ptr<const KeyspaceInfo>> Catalog::Resolve(const KeyspaceName& name) const {
  ASSIGN_OR_RETURN(const ScopeInfo* scope, FindScope(name.bucket, name.scope));
  const auto collection = scope->collections.find(name.collection);
  if (collection == scope->collections.end()) {
    return Fail(Code::kNotFound, "collection.not_found",
                "there is no collection '{}' in '{}.{}' (there are: {})", name.collection,
                name.bucket, name.scope, Names(scope->collections));
  }
  return keyspaces_.at(collection->second);
}

const KeyspaceInfo* Catalog::FindType(std::string_view type) const {
  for (const auto& [id, keyspace] : keyspaces_) {
    for (const TypeDefinition& each : keyspace->types) {
      if (each.name == type) return keyspace.get();
    }
  }
  return nullptr;
}

bool Catalog::typed() const {
  return std::ranges::any_of(keyspaces_,
                             [](const auto& each) { return each.second->policy != nullptr; });
}

const FollowerInfo* Catalog::FindFollower(std::string_view name) const {
  const auto found = followers_.find(name);
  return found == followers_.end() ? nullptr : &found->second;
}

std::shared_ptr<const KeyspaceInfo> Catalog::FindTable(std::string_view table) const {
  const auto bucket = buckets_.find(kTablesBucket);
  if (bucket == buckets_.end()) return nullptr;
  const auto scope = bucket->second.scopes.find(kDefaultName);
  if (scope == bucket->second.scopes.end()) return nullptr;
  const auto& tables = scope->second.collections;
  if (const auto exact = tables.find(table); exact != tables.end()) {
    return keyspaces_.at(exact->second);
  }
  for (const auto& [name, id] : tables) {
    if (SameColumnName(name, table)) return keyspaces_.at(id);
  }
  return nullptr;
}

}  // namespace sluice::db
