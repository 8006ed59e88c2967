// One event on its way to a follower's code. Each kind of follower derives its own event, with the
// data that its code sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"
#include "db/cursor.h"
#include "db/log.h"
#include "db/types.h"

namespace sluice::follow {

struct Event {
  Event() = default;
  Event(const Event&) = default;
  Event(Event&&) = default;
  Event& operator=(const Event&) = default;
  Event& operator=(Event&&) = default;
  virtual ~Event() = default;

  // The shard of its log, and of the commit in which it takes effect.
  db::ShardId shard = 0;
  // Events of one lane of a shard run one after the other, in the order of the log.
  uint16_t lane = 0;
  // False for an event that was offered, such as a timer. It moves no cursor.
  bool from_log = true;
  // The lane's cursor after this event. Its count of events is set only by LaneQueue.
  db::CursorState after;
  // The approximate size of the event in memory.
  size_t bytes = 0;
};
using EventPtr = std::unique_ptr<Event>;

// Makes the event of a change, or null if the follower leaves the change out. `after` is the place
// behind the change. The Change is valid only during the call.
using MakeEvent =
    std::function<Result<EventPtr>(const db::Change& change, const db::CursorState& after)>;

}  // namespace sluice::follow
