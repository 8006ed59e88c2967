#include "db/commit_parts.h"

#include <utility>

namespace sluice::db {

std::set<ShardId> ShardsOf(const Commit& commit, uint16_t shards) {
  std::set<ShardId> found;
  for (const Write& write : commit.writes) found.insert(ShardOf(write.keyspace, write.key, shards));
  for (const ReadCheck& read : commit.reads) found.insert(ShardOf(read.keyspace, read.key, shards));
  for (const RangeCheck& range : commit.ranges) found.insert(range.shard);
  const bool has_rows =
      !commit.rows.empty() || !commit.cursor_moves.empty() || !commit.cursor_creates.empty();
  if (has_rows || found.empty()) found.insert(commit.shard);
  return found;
}

bool CommitPart::OnlyReads() const {
  return commit.writes.empty() && commit.rows.empty() && commit.cursor_moves.empty() &&
         commit.cursor_creates.empty();
}

CommitParts Divide(Commit commit, uint16_t shards) {
  CommitParts parts;
  const auto part = [&](ShardId shard) -> CommitPart& {
    const auto [entry, fresh] = parts.try_emplace(shard);
    Commit& own = entry->second.commit;
    if (fresh) {
      own.shard = shard;
      own.origin = commit.origin;
      own.actor = commit.actor;
    }
    return entry->second;
  };
  for (size_t i = 0; i < commit.writes.size(); ++i) {
    Write& write = commit.writes[i];
    CommitPart& own = part(ShardOf(write.keyspace, write.key, shards));
    own.places.push_back(i);
    own.commit.writes.push_back(std::move(write));
  }
  for (ReadCheck& read : commit.reads) {
    part(ShardOf(read.keyspace, read.key, shards)).commit.reads.push_back(std::move(read));
  }
  for (RangeCheck& range : commit.ranges) {
    part(range.shard).commit.ranges.push_back(std::move(range));
  }
  const bool has_rows =
      !commit.rows.empty() || !commit.cursor_moves.empty() || !commit.cursor_creates.empty();
  if (has_rows) {
    Commit& home = part(commit.shard).commit;
    home.rows = std::move(commit.rows);
    home.cursor_moves = std::move(commit.cursor_moves);
    home.cursor_creates = std::move(commit.cursor_creates);
  }
  return parts;
}

void AddResult(const CommitPart& part, CommitResult result, CommitResult* whole) {
  if (!result.status.ok()) {
    const int failed = result.failed_write;
    whole->status = std::move(result.status);
    whole->failed_write =
        failed < 0 ? -1 : static_cast<int>(part.places[static_cast<size_t>(failed)]);
    whole->writes.clear();
    return;
  }
  const bool has_first = !part.places.empty() && part.places.front() == 0;
  if (whole->sequence == 0 || has_first) whole->sequence = result.sequence;
  for (size_t i = 0; i < part.places.size(); ++i) {
    whole->writes[part.places[i]] = std::move(result.writes[i]);
  }
}

}  // namespace sluice::db
