// One event for a function: a change of a document in its source, which comes from the log, or a
// due timer, which comes from the scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/cursor.h"
#include "db/log.h"
#include "db/types.h"
#include "follow/event.h"
#include "timer/timer.h"

namespace sluice::function {

inline constexpr uint16_t kLanes = 64;

struct Event : follow::Event {
  db::KeyspaceId keyspace = 0;
  db::Operation operation = db::Operation::kInsert;
  std::string key;
  std::string body;
  std::string xattrs;
  std::string previous;  // the document before the change, if the settings ask for it; JSON text
  db::Datatype datatype = db::Datatype::kJson;
  db::Cas cas = 0;
  db::Sequence sequence = 0;
  uint64_t expiry_ms = 0;
  std::string unreadable;  // why the document can't be migrated to its read form; else empty
  // Set for a timer. Its key is "callback:reference"; beside it only the shard, the lane and the
  // bytes are set.
  std::optional<timer::Moment> timer;
  // The timer is one that tries a failed event of this key again.
  bool retry = false;
};

// Whether the operation leaves a document, so that OnUpdate is called; else OnDelete is.
bool HasDocument(db::Operation operation);
std::string_view HandlerOf(const Event& event);

// Changes of one key are always in one lane. Stored cursors depend on this.
uint16_t LaneOf(std::string_view key);

Event EventOf(const db::Change& change, const db::CursorState& after, bool with_previous);
Event EventOf(const timer::Timer& timer);
// The event of a timer that failure::RetryOwner owns: another try of a failed event.
Event RetryOf(const timer::Timer& timer);

}  // namespace sluice::function
