// Many documents in one request. All block: for workers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "db/document.h"

namespace sluice::service {

inline constexpr size_t kMaxBatch = db::kMaxCommitWrites;

// batch.too_large, which names what there is too much of.
Status CheckBatchSize(size_t size, std::string_view what);

// Documents of one keyspace, from one snapshot, in the order of `keys`. The visitor gets null where
// there is none, and an error of the document where it can't be read; its own error ends the read.
using DocumentVisitor =
    std::function<Status(std::string_view key, const Result<const db::DocumentView*>& document)>;
Status ReadBatch(const db::Database& database, db::KeyspaceId keyspace,
                 const std::vector<std::string_view>& keys, const DocumentVisitor& visit);

// As one commit, all or none, whatever their shards; its home is the first one's. An error of one
// write has its place in the field "write".
Result<db::CommitResult> WriteTogether(db::Database& database, std::string actor,
                                       std::vector<db::Write> writes);
// Each for itself; the results in the order of the writes.
std::vector<db::CommitResult> WriteEach(db::Database& database, const std::string& actor,
                                        std::vector<db::Write> writes);

}  // namespace sluice::service
