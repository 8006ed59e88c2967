// The log of one shard as a ParallelFollower reads it: its changes become events, by lane.
//
// Operation: it reads the log once, from the lane that is behind all others. A lane that was
// further along gets its events from there on. When all events are handled, the stored cursors of
// the lanes that heard nothing follow the others, every kStoreInterval at most, so that they do not
// hold the log.
//
// One thread at a time, except End and ended.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "follow/cursors.h"
#include "follow/event.h"
#include "follow/source.h"

namespace sluice::follow {

class LaneFeed {
 public:
  static constexpr std::chrono::seconds kStoreInterval{1};

  // The same for all shards of a follower; outlives the feed.
  struct Rules {
    uint16_t lanes = 1;
    // Stored cursors depend on it: the same change has the same lane for ever.
    std::function<uint16_t(const db::Change& change)> lane_of;
    MakeEvent make_event;
  };
  // Error cursor.not_found when there is no such follower.
  static Result<std::unique_ptr<LaneFeed>> Open(std::unique_ptr<Source> source, const Rules& rules);

  db::ShardId shard() const { return source_->shard(); }
  // A lane belongs to the worker that has events of it, and while all workers are idle in the shard
  // to this object.
  LaneCursors& cursors() { return cursors_; }

  // Reads up to `max` changes and returns how many; 0 when there is nothing new. `deliver` returns
  // false when it has not taken the event: then no more is read.
  using Deliver = std::function<bool(EventPtr event)>;
  Result<size_t> Read(size_t max, const Deliver& deliver);
  // All events that were delivered are handled: every lane is at the reader's place.
  Status StorePlaces(CommitSink& sink, Clock::Time now);
  // Idle lanes are where the reader is, also on disk.
  bool places_stored() const { return places_stored_; }

  // Nothing is read any more. Any thread; false if that was so already.
  bool End() { return !ended_.exchange(true); }
  bool ended() const { return ended_; }

 private:
  LaneFeed(std::unique_ptr<Source> source, const Rules& rules, LaneCursors cursors);

  const std::unique_ptr<Source> source_;
  const Rules& rules_;
  LaneCursors cursors_;
  std::atomic<bool> ended_ = false;
  std::vector<db::CursorState> given_;  // the place of the last event that was delivered, by lane
  Clock::Time stored_at_;
  bool places_stored_ = false;
};

}  // namespace sluice::follow
