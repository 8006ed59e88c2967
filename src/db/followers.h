// Followers of the log: creating and dropping them, their cursors, and how far back the log goes.
//
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "db/commit.h"
#include "db/cursor.h"
#include "db/log.h"
#include "db/types.h"

namespace sluice::db {

class DatabaseImpl;

struct FollowerOptions {
  std::string name;
  std::vector<KeyspaceId> keyspaces;
  // Also all other keyspaces that match it, including those that are made later.
  std::optional<KeyspaceName> pattern;
  bool needs_before = false;
  bool needs_after = true;
  bool holds_log = true;
  uint16_t lanes = 1;
  enum class Start : uint8_t { kNow, kEverything };
  Start start = Start::kNow;
};

class Followers {
 public:
  explicit Followers(DatabaseImpl& impl) : impl_(&impl) {}

  // Creates the follower and its cursors. Waits. An existing one of that name is an error.
  Status Create(const FollowerOptions& options);
  Status Drop(const std::string& name);  // with its cursors; waits
  Result<CursorState> ReadCursor(const CursorId& cursor) const;
  // Logs a keyspace's changes for as long as the returned token lives, and log_retention_ms after
  // it. The token may outlive the database.
  Result<std::shared_ptr<void>> FollowTransiently(KeyspaceId keyspace);

  // True when the log has every change of the keyspace after `position`; otherwise a backfill is
  // needed. Always true of a keyspace that was dropped.
  bool LogCovers(KeyspaceId keyspace, ShardId shard, Sequence position,
                 LogContent content = LogContent::kDocuments) const;
  // Commits up to this one are no longer in the log.
  Sequence LogTrimmed(ShardId shard) const;
  // True when the deletions after `position` are still known; otherwise only a full read is right.
  bool TombstonesCover(ShardId shard, Sequence position) const;
  // The log row of a change, as it is stored. False when it was trimmed.
  Result<bool> ReadLogRow(ShardId shard, const LogPosition& position, std::string* row) const;
  Sequence LastSequence(ShardId shard) const;

  // Calls `listener` after each durable group of the shard, on the committer's thread, until the
  // caller lets go of the token. The listener must be short, as one that only posts, and must not
  // let go of a token.
  std::shared_ptr<void> OnCommitted(ShardId shard, CommitListener listener);

 private:
  DatabaseImpl* const impl_;
};

}  // namespace sluice::db
