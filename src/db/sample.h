// Some documents of a keyspace, chosen by chance from all over it, in key order and as they are
// stored. The same keyspace gives the same ones.
//
// Of up to kCountedDocuments each document is as likely as any other. Of more, which nobody wants
// to read all, keys are found by going down the tree that they form, in each of up to 64 parts of
// about the same size.
#pragma once

#include <cstdint>
#include <memory>

#include "db/reader.h"
#include "db/types.h"

namespace sluice::db {

inline constexpr uint64_t kCountedDocuments = 1'000'000;
inline constexpr uint64_t kAllDocuments = UINT64_MAX;

// `documents` as asked for, or all if there are not more. The snapshot outlives it.
std::unique_ptr<DocumentCursor> NewSampleCursor(const Database& database, KeyspaceId keyspace,
                                                uint64_t documents,
                                                const DatabaseSnapshot& snapshot,
                                                uint64_t counted = kCountedDocuments);

// How many documents to read where nobody says it: all of a keyspace with up to kCountedDocuments
// and 1 GB, else 10,000.
uint64_t UsualSample(const Database& database, KeyspaceId keyspace);

}  // namespace sluice::db
