// From which sequence on the log has every change of a keyspace, with its document. Follows from
// who follows; not stored. Any thread.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "db/types.h"

namespace sluice::db {

class LogCoverage {
 public:
  void Start(KeyspaceId keyspace, ShardId shard, Sequence since) {
    const std::lock_guard lock(mutex_);
    since_[{keyspace, shard}] = since;
  }
  void End(KeyspaceId keyspace, ShardId shard) {
    const std::lock_guard lock(mutex_);
    since_.erase({keyspace, shard});
  }
  std::optional<Sequence> Since(KeyspaceId keyspace, ShardId shard) const {
    const std::lock_guard lock(mutex_);
    const auto found = since_.find({keyspace, shard});
    if (found == since_.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<KeyspaceId, ShardId>, Sequence> since_;  // guarded by mutex_
};

}  // namespace sluice::db
