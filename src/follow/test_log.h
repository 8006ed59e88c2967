// A shard's log in memory, for tests of followers: a source of changes and a sink for commits,
// without a database.
//
// Any thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/status.h"
#include "db/commit.h"
#include "follow/source.h"

namespace sluice::follow {

class FakeLog final : public CommitSink {
 public:
  explicit FakeLog(db::ShardId shard = 0) : shard_(shard) {}

  // A commit of one change.
  void Add(std::string key, std::string body = "") {
    const std::lock_guard lock(mutex_);
    changes_.push_back({std::move(key), std::move(body)});
  }
  // The next commits are refused so, in this order. An OK is applied.
  void Refuse(Status status, int times = 1) {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < times; ++i) refusals_.push_back(status);
  }
  void FailReads(Status status) {
    const std::lock_guard lock(mutex_);
    read_failure_ = std::move(status);
  }
  void DropFollower() {
    const std::lock_guard lock(mutex_);
    dropped_ = true;
  }
  // Another owner moves a lane's cursor behind so many changes.
  void MoveCursor(uint16_t lane, db::Sequence to) {
    const std::lock_guard lock(mutex_);
    cursors_[lane].position.sequence = to;
  }

  // Keys of the documents that were written, a list for each commit that was applied with writes.
  std::vector<std::vector<std::string>> written() const {
    const std::lock_guard lock(mutex_);
    return written_;
  }
  size_t commits() const {
    const std::lock_guard lock(mutex_);
    return commits_;
  }
  db::CursorState cursor(uint16_t lane = 0) const {
    const std::lock_guard lock(mutex_);
    const auto found = cursors_.find(lane);
    return found == cursors_.end() ? db::CursorState() : found->second;
  }
  db::ShardId shard() const { return shard_; }

  Status Apply(db::Commit commit) override {
    const std::lock_guard lock(mutex_);
    CHECK(commit.shard == shard_);
    if (!refusals_.empty()) {
      Status refusal = std::move(refusals_.front());
      refusals_.pop_front();
      if (!refusal.ok()) return refusal;
    }
    for (const db::CursorMove& move : commit.cursor_moves) {
      if (move.cursor.shard != shard_ || cursors_[move.cursor.lane] != move.expected) {
        return Error(Code::kConflict, "cursor.moved", "the cursor was moved");
      }
    }
    for (db::CursorMove& move : commit.cursor_moves) {
      cursors_[move.cursor.lane] = std::move(move.next);
    }
    ++commits_;
    if (commit.writes.empty()) return OkStatus();
    std::vector<std::string>& keys = written_.emplace_back();
    for (db::Write& write : commit.writes) keys.push_back(std::move(write.key));
    return OkStatus();
  }

  // Of the follower "test". The log outlives it.
  std::unique_ptr<Source> NewSource() { return std::make_unique<Reader>(*this); }

 private:
  class Reader final : public Source {
   public:
    explicit Reader(FakeLog& log) : Source("test", log.shard_), log_(log) {}

    Result<db::CursorState> Stored(uint16_t lane) const override {
      const std::lock_guard lock(log_.mutex_);
      if (log_.dropped_) return Fail(Code::kNotFound, "cursor.not_found", "it was dropped");
      return log_.cursors_[lane];
    }
    Status Open(const db::CursorState& start) override {
      place_ = start;
      return OkStatus();
    }
    Result<size_t> Read(size_t max, const db::Feed::Visitor& visitor) override {
      size_t given = 0;
      for (; given < max; ++given) {
        db::Change change;
        std::pair<std::string, std::string> read;
        {
          const std::lock_guard lock(log_.mutex_);
          if (!log_.read_failure_.ok()) return Unexpected(log_.read_failure_);
          if (place_.position.sequence == log_.changes_.size()) break;
          read = log_.changes_[place_.position.sequence];
        }
        change.sequence = ++place_.position.sequence;
        change.n = UINT32_MAX;
        change.key = read.first;
        change.after.emplace().body = read.second;
        ++place_.events;
        if (!visitor(change)) return given + 1;
      }
      return given;
    }
    const db::CursorState& place() const override { return place_; }

   private:
    FakeLog& log_;
    db::CursorState place_;
  };

  const db::ShardId shard_;
  mutable std::mutex mutex_;
  std::deque<std::pair<std::string, std::string>> changes_;  // guarded by mutex_; key, body
  std::deque<Status> refusals_;                              // guarded by mutex_
  Status read_failure_;                                      // guarded by mutex_
  bool dropped_ = false;                                     // guarded by mutex_
  std::map<uint16_t, db::CursorState> cursors_;              // guarded by mutex_
  std::vector<std::vector<std::string>> written_;            // guarded by mutex_
  size_t commits_ = 0;                                       // guarded by mutex_
};

}  // namespace sluice::follow
