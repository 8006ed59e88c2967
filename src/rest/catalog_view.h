// The catalog as JSON: what the bucket, scope, collection and index resources answer.
#pragma once

#include <string_view>

#include "base/status.h"
#include "db/catalog.h"
#include "json/value.h"
#include "rest/context.h"

namespace sluice::rest {

// {"name":...,"scopes":[...]}. With `counts` every document is read: on a worker only.
Result<json::Value> BucketView(const Context& context, const db::Catalog& catalog,
                               std::string_view bucket, bool counts);
// {"name":...,"collections":[...]}
Result<json::Value> ScopeView(const Context& context, const db::Catalog& catalog,
                              std::string_view bucket, std::string_view scope, bool counts);
// {"name":...,"keyspace":...,"max_expiry":"30d"?,"documents":n?,"indexes":[...]?}
Result<json::Value> CollectionView(const Context& context, const db::KeyspaceInfo& keyspace,
                                   bool counts);
// {"name":...,"state":"building"|"ready","parts":[{"path":...,"each":true?,"desc":true?}]}
json::Value IndexView(const db::Index& index);

}  // namespace sluice::rest
