#include "function/event.h"

#include "base/crc32.h"
#include "db/types.h"

namespace sluice::function {
namespace {

constexpr size_t kEventBytes = 256;  // of an event besides its texts, about

}  // namespace

bool HasDocument(db::Operation operation) {
  return operation == db::Operation::kInsert || operation == db::Operation::kUpdate;
}

std::string_view HandlerOf(const Event& event) {
  return HasDocument(event.operation) ? "OnUpdate" : "OnDelete";
}

uint16_t LaneOf(std::string_view key) { return static_cast<uint16_t>(Crc32(key) % kLanes); }

Event EventOf(const db::Change& change, const db::CursorState& after, bool with_previous) {
  Event event;
  event.lane = LaneOf(change.key);
  event.after = after;
  event.keyspace = change.keyspace;
  event.operation = change.operation;
  event.key = change.key;
  event.cas = change.cas;
  event.sequence = change.sequence;
  if (change.after) {
    event.body = change.after->body;
    event.xattrs = change.after->xattrs;
    event.datatype = change.after->datatype;
    event.expiry_ms = change.after->expiry_ms;
    if (!change.unreadable.ok()) event.unreadable = change.unreadable.ToString();
  }
  if (with_previous && change.before && change.before->datatype == db::Datatype::kJson) {
    event.previous = change.before->body;
  }
  event.bytes = kEventBytes + event.key.size() + event.body.size() + event.xattrs.size() +
                event.previous.size();
  return event;
}

namespace {

Event TimerEvent(const timer::Timer& timer, std::string key) {
  Event event;
  event.from_log = false;
  event.shard = timer.moment.shard;
  event.key = std::move(key);
  event.lane = LaneOf(event.key);
  event.bytes = kEventBytes + event.key.size();
  event.timer = timer.moment;
  return event;
}

}  // namespace

Event EventOf(const timer::Timer& timer) {
  return TimerEvent(timer, timer.callback + ":" + timer.reference);
}

Event RetryOf(const timer::Timer& timer) {
  Event event = TimerEvent(timer, timer.context);
  event.retry = true;
  return event;
}

}  // namespace sluice::function
