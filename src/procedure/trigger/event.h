// One event for a trigger or a consumer: a change of a row, made from the log. The queue of the
// events of a shard is a follow::LaneQueue.
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

// A place in the logs of all shards: that of an event.
struct EventPlace {
  db::ShardId shard = 0;
  db::LogPosition position;
  bool operator==(const EventPlace&) const = default;
};

// `after` is the cursor after this event; its count is the event's number in its shard.
struct TriggerEvent : follow::Event {
  uint16_t shard_count = 1;  // of the database
  std::string name;          // of the table, or bucket.scope.collection
  std::string key;           // of a document; empty for a row
  std::string_view type;     // add, upd, del
  Value inserted;            // `new`; missing when there is none
  Value deleted;             // `old`
  uint64_t time_ms = 0;      // of its commit

  // Whether the shard tells something: all rows of tables are in one.
  bool HasShard() const { return shard_count > 1 && !key.empty(); }
  EventPlace place() const { return {shard, after.position}; }
  // Twelve bytes that differ from those of all other events. Ids of one shard sort as its log does.
  std::string id() const;
  // The same for all events of a commit in its shard, and for no others; grows in the shard.
  int64_t tid() const {
    return static_cast<int64_t>(after.position.sequence * shard_count + shard);
  }
  int64_t epoch() const { return static_cast<int64_t>(time_ms / 1000); }
  int64_t sequence() const { return static_cast<int64_t>(after.events); }
};

// An id is the shard (u16), the commit's sequence (u48) and the place in the commit (u32).
inline constexpr size_t kEventIdBytes = 12;
inline constexpr size_t kEventIdShardBytes = 2;
std::string EventId(const EventPlace& place);
// Empty if the text is not an id.
std::optional<EventPlace> PlaceOfId(std::string_view id);
// Reads an id in hexadecimal digits.
std::optional<EventPlace> PlaceOfHexId(std::string_view digits);

// Makes events of changes. One thread.
class EventMaker {
 public:
  // Error of the query engine when a condition can't be planned.
  static Result<EventMaker> Make(query::QueryEngine& engine,
                                 std::shared_ptr<const TriggerDefinition> definition);

  // Empty if the change is no event by the definition. The caller sets the shard and the cursor.
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

// Opens the queue of the events of one shard after the cursor of a trigger or a consumer. Error
// cursor.not_found when it was dropped.
Result<std::unique_ptr<follow::LaneQueue>> OpenShardQueue(
    query::QueryEngine& engine, std::shared_ptr<const TriggerDefinition> definition,
    db::ShardId shard);
// The next event of such a queue, or null.
inline Result<const TriggerEvent*> NextEvent(follow::LaneQueue& queue) {
  ASSIGN_OR_RETURN(const follow::Event* const event, queue.Next());
  return static_cast<const TriggerEvent*>(event);
}

}  // namespace sluice::procedure
