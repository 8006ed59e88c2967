// A random sample of a keyspace's documents, in key order and as they are stored. The same keyspace
// gives the same sample.
//
// In a keyspace of up to kCountedDocuments each document is as likely as any other. A larger one is
// not read as a whole: it is divided into up to 64 parts of about the same size, and in each part
// keys are found by going down the tree that they form.
#pragma once

#include <cstdint>
#include <memory>

#include "db/reader.h"
#include "db/types.h"

namespace sluice::db {

inline constexpr uint64_t kCountedDocuments = 1'000'000;
inline constexpr uint64_t kAllDocuments = UINT64_MAX;

// `documents` of them, or all if there are not more. The snapshot outlives it.
std::unique_ptr<DocumentCursor> NewSampleCursor(const Database& database, KeyspaceId keyspace,
                                                uint64_t documents,
                                                const DatabaseSnapshot& snapshot,
                                                uint64_t counted = kCountedDocuments);

// The default number of documents: all of a keyspace with up to kCountedDocuments and 1 GB,
// otherwise 10,000.
uint64_t UsualSample(const Database& database, KeyspaceId keyspace);

}  // namespace sluice::db
