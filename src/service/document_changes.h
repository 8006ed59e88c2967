// Transformations of a document (transform.h) that clients ask for. They hold what they need and
// know nothing of the request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "db/database.h"
#include "json/subdoc.h"
#include "json/value.h"
#include "service/transform.h"

namespace sluice::service {

// Changes of parts of one document, apart by what they change, with their places in the client's
// list.
struct SubdocSpecs {
  std::vector<json::MutateSpec> body;
  std::vector<size_t> body_places;
  std::vector<json::MutateSpec> xattrs;
  std::vector<size_t> xattr_places;
};

// All or none. The reply is a JSON list with the new values of counters at their places, else null;
// an error has its place in the field "spec".
Transformation SubdocChange(const db::Database& database, db::KeyspaceId keyspace,
                            SubdocSpecs specs);

// RFC 7386.
Transformation MergePatchChange(const db::Database& database, db::KeyspaceId keyspace,
                                json::Value patch);

// The same change, and the document expires then; 0: never.
Transformation WithExpiry(Transformation change, uint64_t expiry_ms);

}  // namespace sluice::service
