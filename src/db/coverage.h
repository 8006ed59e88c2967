// The sequence from which on the log has every change of a keyspace, and the one from which on it
// also has their documents. Both follow from the keyspace's followers and are not stored. Any
// thread.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "base/locked.h"
#include "db/log.h"
#include "db/types.h"

namespace sluice::db {

class LogCoverage {
 public:
  void Start(KeyspaceId keyspace, ShardId shard, LogContent content, Sequence since) {
    (*since_.Lock())[{keyspace, shard, content}] = since;
  }
  void End(KeyspaceId keyspace, ShardId shard, LogContent content) {
    since_.Lock()->erase({keyspace, shard, content});
  }
  void EndAll(ShardId shard) {
    std::erase_if(*since_.Lock(),
                  [&](const auto& each) { return std::get<1>(each.first) == shard; });
  }
  std::optional<Sequence> Since(KeyspaceId keyspace, ShardId shard, LogContent content) const {
    const auto since = since_.Lock();
    const auto found = since->find({keyspace, shard, content});
    if (found == since->end()) return std::nullopt;
    return found->second;
  }

 private:
  Locked<std::map<std::tuple<KeyspaceId, ShardId, LogContent>, Sequence>> since_;
};

}  // namespace sluice::db
