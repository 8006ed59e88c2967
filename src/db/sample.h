// Some documents of a keyspace, from all over it, in key order and as they are stored.
//
// A large keyspace is cut into parts of about the same size, and each gives its first documents. Of
// a small one every n-th document is taken. A keyspace with fewer documents gives all of them.
#pragma once

#include <cstdint>
#include <memory>

#include "db/reader.h"
#include "db/types.h"

namespace sluice::db {

// The snapshot outlives it.
std::unique_ptr<DocumentCursor> NewSampleCursor(const Database& database, KeyspaceId keyspace,
                                                uint64_t documents,
                                                const DatabaseSnapshot& snapshot);

}  // namespace sluice::db
