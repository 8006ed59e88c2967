#include "db/commit_limits.h"

namespace sluice::db {

Status CommitLimits::Check(size_t commit_writes, size_t commit_bytes) const {
  if (commit_writes > writes) {
    return Error(Code::kTooLarge, "commit.too_large",
                 "a commit has at most {} writes (storage.max_commit_writes), got {}", writes,
                 commit_writes);
  }
  if (commit_bytes > bytes) {
    return Error(Code::kTooLarge, "commit.too_large",
                 "a commit has at most {} bytes (storage.max_commit_bytes), got {}", bytes,
                 commit_bytes);
  }
  return OkStatus();
}

}  // namespace sluice::db
