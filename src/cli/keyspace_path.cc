#include "cli/keyspace_path.h"

#include "cli/api.h"

namespace sluice::cli {

std::string BucketPath(std::string_view bucket) { return "/v1/buckets/" + Segment(bucket); }

std::string ScopePath(std::string_view bucket, std::string_view scope) {
  return BucketPath(bucket) + "/scopes/" + Segment(scope);
}

std::string CollectionPath(std::string_view bucket, std::string_view scope,
                           std::string_view collection) {
  return ScopePath(bucket, scope) + "/collections/" + Segment(collection);
}

}  // namespace sluice::cli
