#include "cli/plan.h"

#include <utility>

#include "base/quantity.h"
#include "cli/keyspace_path.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kDefault = "_default";

ApiRequest PutJson(std::string path, const json::Value& body) {
  return {.method = "PUT",
          .path = std::move(path),
          .headers = {{"Content-Type", "application/json"}},
          .body = json::ToText(body)};
}
ApiRequest PutRequest(std::string path) { return {.method = "PUT", .path = std::move(path)}; }
ApiRequest DeleteRequest(std::string path) { return {.method = "DELETE", .path = std::move(path)}; }

// The name a keyspace is shown by: `shop` for a bucket's default collection.
std::string KeyspaceText(const std::string& bucket, const std::string& scope,
                         const std::string& collection) {
  if (scope == kDefault && collection == kDefault) return bucket;
  return fmt::format("{}.{}.{}", bucket, scope, collection);
}

json::Value IndexJson(const IndexSpec& index) {
  json::Value parts = json::Value::EmptyArray();
  for (const IndexPartSpec& part : index) parts.Append(part.ToJson());
  return json::Value::Object({{"parts", std::move(parts)}});
}

std::string IndexText(const IndexSpec& index) {
  std::vector<std::string> parts;
  for (const IndexPartSpec& part : index) {
    parts.push_back(fmt::format("{}{}{}", part.path, part.each_element ? " each" : "",
                                part.descending ? " desc" : ""));
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

class Planner {
 public:
  explicit Planner(Prune prune) : prune_(prune) {}

  void PlanBucket(const std::string& bucket, const BucketSpec& wanted, const BucketSpec* present) {
    if (present == nullptr) Create("bucket " + bucket, {PutRequest(BucketPath(bucket))});
    for (const auto& [name, scope] : wanted.scopes) {
      const ScopeSpec* there = Find(present == nullptr ? nullptr : &present->scopes, name);
      PlanScope(bucket, name, scope, there);
    }
    if (present == nullptr) return;
    for (const auto& [name, scope] : present->scopes) {
      if (name == kDefault || wanted.scopes.contains(name)) continue;
      Drop(fmt::format("scope {}.{}", bucket, name), DeleteRequest(ScopePath(bucket, name)));
    }
  }

  Plan Take() { return std::move(plan_); }

 private:
  template <typename Map>
  static const typename Map::mapped_type* Find(const Map* map, const std::string& name) {
    if (map == nullptr) return nullptr;
    const auto found = map->find(name);
    return found == map->end() ? nullptr : &found->second;
  }

  void PlanScope(const std::string& bucket, const std::string& scope, const ScopeSpec& wanted,
                 const ScopeSpec* present) {
    if (present == nullptr && scope != kDefault) {
      Create(fmt::format("scope {}.{}", bucket, scope), {PutRequest(ScopePath(bucket, scope))});
    }
    for (const auto& [name, collection] : wanted.collections) {
      const CollectionSpec* there =
          Find(present == nullptr ? nullptr : &present->collections, name);
      PlanCollection({bucket, scope, name}, collection, there);
    }
    if (present == nullptr) return;
    for (const auto& [name, collection] : present->collections) {
      if ((scope == kDefault && name == kDefault) || wanted.collections.contains(name)) continue;
      Drop("collection " + KeyspaceText(bucket, scope, name),
           DeleteRequest(CollectionPath(bucket, scope, name)));
    }
  }

  struct Names {
    const std::string& bucket;
    const std::string& scope;
    const std::string& collection;
  };

  void PlanCollection(const Names& names, const CollectionSpec& wanted,
                      const CollectionSpec* present) {
    const std::string keyspace = KeyspaceText(names.bucket, names.scope, names.collection);
    const std::string path = CollectionPath(names.bucket, names.scope, names.collection);
    const std::string expiry = FormatDurationMs(wanted.max_expiry_ms);
    const json::Value body = json::Value::Object({{"max_expiry", expiry}});
    const bool system = names.scope == kDefault && names.collection == kDefault;
    // The server makes a bucket's default collection together with the bucket, without a limit.
    const uint64_t now_ms = present == nullptr ? 0 : present->max_expiry_ms;
    if (present == nullptr && !system) {
      const bool limited = wanted.max_expiry_ms != 0;
      Create(fmt::format("collection {}{}", keyspace,
                         limited ? fmt::format(" (max_expiry {})", expiry) : ""),
             {limited ? PutJson(path, body) : PutRequest(path)});
    } else if (now_ms != wanted.max_expiry_ms) {
      ApiRequest patch = PutJson(path, body);
      patch.method = "PATCH";
      Add(Step::Kind::kAlter,
          fmt::format("collection {} (max_expiry {}, was {})", keyspace, expiry,
                      FormatDurationMs(now_ms)),
          {std::move(patch)});
    }
    PlanIndexes(keyspace, wanted, present);
  }

  void PlanIndexes(const std::string& keyspace, const CollectionSpec& wanted,
                   const CollectionSpec* present) {
    const std::string base = "/v1/indexes/" + Segment(keyspace) + "/";
    for (const auto& [name, index] : wanted.indexes) {
      const IndexSpec* there = Find(present == nullptr ? nullptr : &present->indexes, name);
      const std::string what = fmt::format("index {} on {} {}", name, keyspace, IndexText(index));
      ApiRequest put = PutJson(base + Segment(name), IndexJson(index));
      if (there == nullptr) {
        Create(what, {std::move(put)});
      } else if (*there != index) {
        Add(Step::Kind::kAlter, fmt::format("{} (was {})", what, IndexText(*there)),
            {DeleteRequest(base + Segment(name)), std::move(put)});
      }
    }
    if (present == nullptr) return;
    for (const auto& [name, index] : present->indexes) {
      if (wanted.indexes.contains(name)) continue;
      Drop(fmt::format("index {} on {}", name, keyspace), DeleteRequest(base + Segment(name)));
    }
  }

  void Add(Step::Kind kind, std::string what, std::vector<ApiRequest> requests) {
    plan_.steps.push_back({kind, std::move(what), std::move(requests)});
  }
  void Create(std::string what, std::vector<ApiRequest> requests) {
    Add(Step::Kind::kCreate, std::move(what), std::move(requests));
  }
  void Drop(std::string what, ApiRequest request) {
    if (prune_ == Prune::kYes) {
      Add(Step::Kind::kDrop, std::move(what), {std::move(request)});
    } else {
      plan_.kept.push_back(std::move(what));
    }
  }

  const Prune prune_;
  Plan plan_;
};

Result<CollectionSpec> CollectionOf(const json::Value& view) {
  CollectionSpec collection;
  if (const json::Value& expiry = view["max_expiry"]; expiry.is_string()) {
    ASSIGN_OR_RETURN(collection.max_expiry_ms, ParseDurationMs(expiry.AsString()));
  }
  for (const json::Value& index : view["indexes"].items()) {
    IndexSpec& spec = collection.indexes[TextOf(index["name"])];
    for (const json::Value& part : index["parts"].items()) {
      spec.push_back({TextOf(part["path"]), part["each"] == json::Value(true),
                      part["desc"] == json::Value(true)});
    }
  }
  return collection;
}

}  // namespace

std::string Step::ToString() const {
  const std::string_view verb = kind == Kind::kCreate  ? "create"
                                : kind == Kind::kAlter ? "alter"
                                                       : "drop";
  return fmt::format("{} {}", verb, what);
}

Plan MakePlan(const KeyspacesSpec& wanted, const KeyspacesSpec& present, Prune prune) {
  Planner planner(prune);
  for (const auto& [name, bucket] : wanted.buckets) {
    const auto found = present.buckets.find(name);
    planner.PlanBucket(name, bucket, found == present.buckets.end() ? nullptr : &found->second);
  }
  return planner.Take();
}

Result<KeyspacesSpec> FetchKeyspaces(Api* api) {
  ASSIGN_OR_RETURN(const json::Value answer, api->CallJson({.path = "/v1/buckets"}));
  KeyspacesSpec spec;
  for (const json::Value& bucket : answer["buckets"].items()) {
    BucketSpec& bucket_spec = spec.buckets[TextOf(bucket["name"])];
    for (const json::Value& scope : bucket["scopes"].items()) {
      ScopeSpec& scope_spec = bucket_spec.scopes[TextOf(scope["name"])];
      for (const json::Value& collection : scope["collections"].items()) {
        ASSIGN_OR_RETURN(scope_spec.collections[TextOf(collection["name"])],
                         CollectionOf(collection));
      }
    }
  }
  return spec;
}

}  // namespace sluice::cli
