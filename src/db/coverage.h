// From which sequence on the log has every change of a keyspace: all of them, and all of them with
// their documents. Follows from who follows; not stored. Any thread.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "base/mutex.h"
#include "db/log.h"
#include "db/types.h"

namespace sluice::db {

class LogCoverage {
 public:
  void Start(KeyspaceId keyspace, ShardId shard, LogContent content, Sequence since) {
    const MutexLock lock(mutex_);
    since_[{keyspace, shard, content}] = since;
  }
  void End(KeyspaceId keyspace, ShardId shard, LogContent content) {
    const MutexLock lock(mutex_);
    since_.erase({keyspace, shard, content});
  }
  std::optional<Sequence> Since(KeyspaceId keyspace, ShardId shard, LogContent content) const {
    const MutexLock lock(mutex_);
    const auto found = since_.find({keyspace, shard, content});
    if (found == since_.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::tuple<KeyspaceId, ShardId, LogContent>, Sequence> since_ GUARDED_BY(mutex_);
};

}  // namespace sluice::db
