// How large a commit may be.
#pragma once

#include <cstddef>

#include "base/status.h"

namespace sluice::db {

// A shard's committer applies one commit at a time, so the limits also bound how long other writers
// wait for it. They are never below kMaxCommitWrites and kMaxCommitBytes (types.h): a writer that
// gathers changes into commits may rely on these.
struct CommitLimits {
  size_t writes = 100'000;
  size_t bytes = 128ull << 20;  // of documents: bodies and extended attributes

  // Error commit.too_large.
  Status Check(size_t commit_writes, size_t commit_bytes) const;
};

}  // namespace sluice::db
