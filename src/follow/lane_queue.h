// The events that wait for a follower with one lane: the changes of its keyspaces after its cursor.
// No rows are copied to a queue. The log is the queue, and the cursor holds it.
//
//   Next     the event after the taken ones, or null if there is none now
//   Take     takes it: the next commit consumes it
//   Move     the cursor's move past all taken events, for that commit
//   Committed or Rewind
//
// Operation: it reads ahead, and keeps events until a commit consumes them. A move that consumes
// all events that were read also passes the changes behind them that the follower leaves out.
// Concurrency: one thread at a time.
// Bounds: it reads ahead kReadAtOnce changes or kMostBytesRead, whichever comes first.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "follow/cursors.h"
#include "follow/event.h"
#include "follow/source.h"

namespace sluice::follow {

class LaneQueue final : public Cursors {
 public:
  static constexpr size_t kReadAtOnce = 512;
  static constexpr size_t kMostBytesRead = 16ull << 20;

  // Error cursor.not_found when the follower was dropped.
  static Result<std::unique_ptr<LaneQueue>> Open(std::unique_ptr<Source> source, MakeEvent make);

  Result<const Event*> Next();
  void Take() { ++taken_; }
  size_t taken() const { return taken_; }
  // Nothing counts as taken any more.
  void Rewind() { taken_ = 0; }

  // Up to `most` events from the front, whatever was taken; fewer when no more are there. Valid
  // until the next call of Next, Peek, Committed or Reload.
  Result<std::span<const EventPtr>> Peek(size_t most);

  // The move from the stored cursor past the taken events, or past the first `count` events.
  db::CursorMove Move() const { return Move(taken_); }
  db::CursorMove Move(size_t count) const;
  // Whether the cursor would move.
  bool HasMove() const { return After(taken_) != stored_; }
  void Committed() { Committed(taken_); }
  void Committed(size_t count);
  // Drops all events and reads the cursor again, which another writer may have moved.
  Status Reload();

  const db::CursorState& stored() const { return stored_; }

  db::ShardId shard() const override { return source_->shard(); }
  std::vector<db::CursorMove> MovesPast(std::span<const EventPtr> events) const override {
    return {Move(events.size())};
  }
  void Moved(std::span<const EventPtr> events, std::vector<db::CursorMove>) override {
    Committed(events.size());
  }

 private:
  LaneQueue(std::unique_ptr<Source> source, MakeEvent make)
      : source_(std::move(source)), make_(std::move(make)) {}
  Status ReadMore();
  void NotePlace();
  size_t waiting() const { return events_.size() - first_; }
  // The cursor when the first `count` events are consumed.
  db::CursorState After(size_t count) const;

  const std::unique_ptr<Source> source_;
  const MakeEvent make_;
  db::CursorState stored_;
  std::vector<EventPtr> events_;  // read; those before first_ are consumed
  size_t first_ = 0;
  size_t taken_ = 0;      // events from first_ on
  bool at_end_ = false;   // the last read has reached the end of the log
  bool broken_ = false;   // MakeEvent has failed for a change, which has to be read again
  db::CursorState read_;  // the place behind all changes that were read
};

}  // namespace sluice::follow
