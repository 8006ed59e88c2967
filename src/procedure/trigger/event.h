// One event for a trigger or a consumer: a change of a row, made from the log. The queue of events
// is a follow::LaneQueue.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/cursor.h"
#include "db/log.h"
#include "follow/lane_queue.h"
#include "procedure/trigger/definition.h"
#include "query/engine.h"

namespace sluice::procedure {

// `after` is the cursor after this event; its count is the event's number.
struct TriggerEvent : follow::Event {
  std::string name;       // of the table, or bucket.scope.collection
  std::string key;        // of a document; empty for a row
  std::string_view type;  // add, upd, del
  Value inserted;         // `new`; missing when there is none
  Value deleted;          // `old`
  uint64_t time_ms = 0;   // of its commit

  // Twelve bytes that sort as the log does: the commit's sequence and the place in it.
  std::string id() const;
  int64_t tid() const { return static_cast<int64_t>(after.position.sequence); }
  int64_t epoch() const { return static_cast<int64_t>(time_ms / 1000); }
  int64_t sequence() const { return static_cast<int64_t>(after.events); }
};

inline constexpr size_t kEventIdBytes = 12;
std::string EventId(const db::LogPosition& position);
// Empty if the text is not an id.
std::optional<db::LogPosition> PositionOfId(std::string_view id);
// Reads an id in hexadecimal digits.
std::optional<db::LogPosition> PositionOfHexId(std::string_view digits);

// Makes events of changes. One thread.
class EventMaker {
 public:
  // Error of the query engine when a condition can't be planned.
  static Result<EventMaker> Make(query::QueryEngine& engine,
                                 std::shared_ptr<const TriggerDefinition> definition);

  // Empty if the change is no event by the definition. The caller sets the cursor.
  Result<std::optional<TriggerEvent>> EventOf(const db::Change& change);
  // Whether a change is an event. True also if that can't be decided.
  bool Counts(const db::Change& change);
  // Makes the event of a change without looking at the conditions again. Empty if the definition
  // does not follow the keyspace.
  Result<std::optional<TriggerEvent>> Unconditionally(const db::Change& change);

 private:
  EventMaker(query::QueryEngine& engine, std::shared_ptr<const TriggerDefinition> definition)
      : engine_(&engine), definition_(std::move(definition)) {}
  enum class Conditions : uint8_t { kAsk, kHold };
  Result<std::optional<TriggerEvent>> Make(const db::Change& change, Conditions conditions);
  bool Fires(const TriggerSource& source, const TriggerEvent& event, const Value& inserted,
             const Value& deleted) const;

  query::QueryEngine* engine_;
  std::shared_ptr<const TriggerDefinition> definition_;
  std::map<db::KeyspaceId, std::shared_ptr<const query::StatementPlan>> conditions_;
};

// Opens the queue of the events after the cursor of a trigger or a consumer. Error cursor.not_found
// when it was dropped.
Result<std::unique_ptr<follow::LaneQueue>> OpenEventQueue(
    query::QueryEngine& engine, std::shared_ptr<const TriggerDefinition> definition);
// The next event of such a queue, or null.
inline Result<const TriggerEvent*> NextEvent(follow::LaneQueue& queue) {
  ASSIGN_OR_RETURN(const follow::Event* const event, queue.Next());
  return static_cast<const TriggerEvent*>(event);
}

}  // namespace sluice::procedure
