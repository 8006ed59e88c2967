// One event for a function, on its way to a worker: a change of a document in its source, from the
// log, or a timer of its own that is due.
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
  std::string previous;  // JSON text, if asked for and there was one
  db::Datatype datatype = db::Datatype::kJson;
  db::Cas cas = 0;
  db::Sequence sequence = 0;
  uint64_t expiry_ms = 0;
  std::string unreadable;  // why the body is not in the form in which it is read; empty if it is
  // Of a timer; then the key is "callback:reference", and of the rest only the lane and the bytes
  // are set.
  std::optional<timer::Moment> timer;
  // The timer says that an event that failed, of this key, is to be tried again.
  bool retry = false;
};

// Whether OnUpdate is called, not OnDelete.
bool HasDocument(db::Operation operation);
std::string_view HandlerOf(const Event& event);

// Changes of one key are always in one lane. Stored cursors depend on this.
uint16_t LaneOf(std::string_view key);
// The partition that Couchbase has the key in, which handlers see as meta.vb.
uint16_t PartitionOf(std::string_view key);

Event EventOf(const db::Change& change, const db::CursorState& after, bool with_previous);
Event EventOf(const timer::Timer& timer);
// Of a timer of failure::RetryOwner.
Event RetryOf(const timer::Timer& timer);

}  // namespace sluice::function
