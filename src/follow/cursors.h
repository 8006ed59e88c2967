// The stored cursors of a follower in one shard, and how a commit moves them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "db/cursor.h"
#include "follow/event.h"
#include "follow/source.h"

namespace sluice::follow {

// Whether a place is before another one of the same follower: a backfill comes before the log.
bool IsBefore(const db::CursorState& a, const db::CursorState& b);

// The moves of cursors in a commit of events.
class Cursors {
 public:
  virtual ~Cursors() = default;
  virtual db::ShardId shard() const = 0;
  // The moves from the stored cursors past these events, which are the next of their lanes.
  virtual std::vector<db::CursorMove> MovesPast(std::span<const EventPtr> events) const = 0;
  // A commit with these moves is durable. The events are no longer needed.
  virtual void Moved(std::span<const EventPtr> events, std::vector<db::CursorMove> moves) = 0;
};

// The cursors of a follower whose lanes run side by side.
//
// Concurrency: a lane belongs to the worker that has events of it, and while all workers are idle
// to the reader.
class LaneCursors final : public Cursors {
 public:
  // Reads the stored cursors.
  static Result<LaneCursors> Load(const Source& source, uint16_t lanes);

  uint16_t lanes() const { return static_cast<uint16_t>(stored_.size()); }
  db::ShardId shard() const override { return shard_; }
  const db::CursorState& at(uint16_t lane) const { return stored_[lane]; }
  // The place of the lane that is behind all others.
  const db::CursorState& lowest() const;

  std::vector<db::CursorMove> MovesPast(std::span<const EventPtr> events) const override;
  void Moved(std::span<const EventPtr> events, std::vector<db::CursorMove> moves) override;
  // The moves to `place` of all lanes that are before it, once everything up to it is handled.
  std::vector<db::CursorMove> MovesTo(const db::CursorState& place) const;

 private:
  LaneCursors(std::string follower, db::ShardId shard, std::vector<db::CursorState> stored)
      : follower_(std::move(follower)), shard_(shard), stored_(std::move(stored)) {}

  std::string follower_;
  db::ShardId shard_;
  std::vector<db::CursorState> stored_;  // by lane
};

}  // namespace sluice::follow
