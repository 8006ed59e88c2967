#include "db/catalog.h"

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

Result<std::shared_ptr<const KeyspaceInfo>> Catalog::Resolve(const KeyspaceName& name) const {
  const auto bucket = buckets_.find(name.bucket);
  if (bucket == buckets_.end()) {
    return Fail(Code::kNotFound, "bucket.not_found", "there is no bucket '{}' (there are: {})",
                name.bucket, Names(buckets_));
  }
  const auto scope = bucket->second.scopes.find(name.scope);
  if (scope == bucket->second.scopes.end()) {
    return Fail(Code::kNotFound, "scope.not_found",
                "there is no scope '{}' in bucket '{}' (there are: {})", name.scope, name.bucket,
                Names(bucket->second.scopes));
  }
  const auto collection = scope->second.collections.find(name.collection);
  if (collection == scope->second.collections.end()) {
    return Fail(Code::kNotFound, "collection.not_found",
                "there is no collection '{}' in '{}.{}' (there are: {})", name.collection,
                name.bucket, name.scope, Names(scope->second.collections));
  }
  return keyspaces_.at(collection->second);
}

const FollowerInfo* Catalog::FindFollower(std::string_view name) const {
  const auto found = followers_.find(name);
  return found == followers_.end() ? nullptr : &found->second;
}

}  // namespace sluice::db
