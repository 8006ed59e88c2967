// The places from which a follower reads and to which it commits, in one shard. Followers see a
// database only through these two, so that a test can replace it by a FakeLog (follow/test_log.h).
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "db/commit.h"
#include "db/cursor.h"
#include "db/database.h"
#include "db/feed.h"

namespace sluice::follow {

// The log of one shard as one follower reads it, and the follower's stored cursors there.
//
// One thread at a time.
class Source {
 public:
  Source(std::string follower, db::ShardId shard) : follower_(std::move(follower)), shard_(shard) {}
  virtual ~Source() = default;

  const std::string& follower() const { return follower_; }
  db::ShardId shard() const { return shard_; }
  db::CursorId cursor(uint16_t lane) const { return {follower_, shard_, lane}; }

  // cursor.not_found when the follower was dropped.
  virtual Result<db::CursorState> Stored(uint16_t lane) const = 0;
  // Reads from here on.
  virtual Status Open(const db::CursorState& start) = 0;
  // As db::Feed::Read.
  virtual Result<size_t> Read(size_t max, const db::Feed::Visitor& visitor) = 0;
  // The place behind the last change that was given, and at the end of the log behind all that was
  // looked at.
  virtual const db::CursorState& place() const = 0;

 private:
  const std::string follower_;
  const db::ShardId shard_;
};

// Takes a follower's commits. Any thread.
class CommitSink {
 public:
  virtual ~CommitSink() = default;
  // Waits until the commit is durable or refused.
  virtual Status Apply(db::Commit commit) = 0;
};

// Of a durable follower of a database.
class DatabaseSource final : public Source {
 public:
  DatabaseSource(const db::Database& database, std::string follower, db::ShardId shard)
      : Source(std::move(follower), shard), database_(database) {}

  Result<db::CursorState> Stored(uint16_t lane) const override {
    return database_.followers().ReadCursor(cursor(lane));
  }
  Status Open(const db::CursorState& start) override {
    ASSIGN_OR_RETURN(feed_, db::Feed::OfFollower(database_, shard(), follower(), start));
    return OkStatus();
  }
  Result<size_t> Read(size_t max, const db::Feed::Visitor& visitor) override {
    if (AtEnd()) return 0;
    return feed_->Read(max, visitor);
  }
  const db::CursorState& place() const override { return feed_->state(); }

 private:
  // A commit to one shard has followers look at all of theirs: this costs less than to open the
  // log.
  bool AtEnd() const {
    return !place().backfilling &&
           place().position.done() >= database_.followers().LastSequence(shard());
  }

  const db::Database& database_;
  std::unique_ptr<db::Feed> feed_;
};

class DatabaseSink final : public CommitSink {
 public:
  explicit DatabaseSink(db::Database& database) : database_(database) {}
  Status Apply(db::Commit commit) override { return database_.Apply(std::move(commit)).status; }

 private:
  db::Database& database_;
};

}  // namespace sluice::follow
