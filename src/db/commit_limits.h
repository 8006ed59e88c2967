// How large a commit may be.
#pragma once

#include <cstddef>

#include "base/status.h"

namespace sluice::db {

// While a shard's committer applies a commit it does nothing else, so these also bound how long
// other writers wait for it. Never below kMaxCommitWrites and kMaxCommitBytes (types.h), on which
// writers that gather changes of their own accord may rely.
struct CommitLimits {
  size_t writes = 100'000;
  size_t bytes = 128ull << 20;  // of documents: bodies and extended attributes

  // Error commit.too_large.
  Status Check(size_t commit_writes, size_t commit_bytes) const;
};

}  // namespace sluice::db
