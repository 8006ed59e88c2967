// Paths of buckets, scopes and collections in the server's REST interface.
#pragma once

#include <string>
#include <string_view>

namespace sluice::cli {

// /v1/buckets/BUCKET[/scopes/SCOPE[/collections/COLLECTION]].
std::string BucketPath(std::string_view bucket);
std::string ScopePath(std::string_view bucket, std::string_view scope);
std::string CollectionPath(std::string_view bucket, std::string_view scope,
                           std::string_view collection);

}  // namespace sluice::cli
