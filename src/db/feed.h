// The changes that a follower reads from one shard: first, if necessary, the documents themselves
// (a backfill in key order), then the log. Between the two nothing is missing or repeated:
//
//   1. The keyspace is logged from some sequence S on, which Followers::Create or FollowTransiently
//      started, and the cursor keeps the log from S on.
//   2. The backfill delivers documents with from < sequence <= S and skips newer ones: they are in
//      the log after S. So it needs no snapshot that outlives a restart, only its last key.
//   3. The committer announces which log rows and tombstones it removes before it removes them. So
//      the feed first reads rows, and then asks whether any could be missing among them.
//   4. With from = 0 the backfill is the initial snapshot, without tombstones; with from = an old
//      position it is the deduplicated history since then, with tombstones.
//
// Documents come in the form in which readers see them (document_policy.h); a document that can't
// be migrated to that form comes as it is stored.
//
// One thread at a time. A Change given to the visitor is valid during that call.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "db/cursor.h"
#include "db/database.h"
#include "db/log.h"
#include "db/types.h"

namespace sluice::db {

class Feed {
 public:
  // The cursor with which a feed delivers everything after `since` (0: from the very beginning).
  // Fails with feed.history_gone when deletions after `since` are no longer known: start from 0.
  // The keyspaces must be followed already.
  static Result<CursorState> StartAfter(const Database& database, ShardId shard,
                                        const std::vector<KeyspaceId>& keyspaces, Sequence since);

  // `content` is kKeys for a durable follower that does not need documents after the change.
  Feed(const Database& database, ShardId shard, std::vector<KeyspaceId> keyspaces,
       CursorState start, LogContent content = LogContent::kDocuments);
  // For a durable follower. If it has a pattern, keyspaces that are made later are read, too.
  static Result<std::unique_ptr<Feed>> OfFollower(const Database& database, ShardId shard,
                                                  const std::string& follower, CursorState start);
  ~Feed();

  // Gives up to `max` changes to the visitor, in order, and returns how many; 0 when there is
  // nothing new. The visitor returns false to stop after the change it was given.
  using Visitor = std::function<bool(const Change&)>;
  Result<size_t> Read(size_t max, const Visitor& visitor);

  // The cursor after the last delivered change. The commit that consumes the change stores it. At
  // the end of the log it is past changes of other keyspaces, too; a follower that gets no changes
  // for long stores it from time to time, so that the log can be trimmed.
  const CursorState& state() const { return state_; }

 private:
  Result<size_t> ReadBackfill(size_t max, const Visitor& visitor);
  Result<size_t> ReadLog(size_t max, const Visitor& visitor);
  Status OpenLog();
  bool OpenRestOfCommit();
  std::unique_ptr<LogReader> MakeReader(Sequence last = LogReader::kNoLast) const;
  Result<const Change*> NextChange();
  bool Follows(KeyspaceId keyspace);
  const Change& InReadForm(const Change& change);

  const Database& database_;
  const ShardId shard_;
  std::vector<KeyspaceId> keyspaces_;  // sorted
  // Only of a follower with a pattern; `keyspaces_` is then of one version of the catalog.
  std::string follower_;
  uint64_t version_ = 0;
  const LogContent content_;
  CursorState state_;
  std::unique_ptr<LogReader> reader_;
  // The last delivered change, if its documents are read in another form than the stored one.
  Change shown_;
  std::string before_body_;
  std::string after_body_;
};

}  // namespace sluice::db
