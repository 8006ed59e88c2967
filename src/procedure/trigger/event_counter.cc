#include "procedure/trigger/event_counter.h"

#include <utility>

#include "db/database.h"
#include "db/feed.h"
#include "procedure/trigger/event.h"

namespace sluice::procedure {
namespace {

constexpr size_t kCountedAtOnce = 1024;

}  // namespace

Result<uint64_t> EventCounter::Count(query::QueryEngine& engine,
                                     std::shared_ptr<const TriggerDefinition> definition,
                                     db::ShardId shard, const db::CursorState& stored) {
  Counted counted = (*counted_.Lock())[shard];
  db::CursorState& end = counted.end;
  const bool known = counted.definition != nullptr &&
                     counted.definition->sources == definition->sources &&
                     end.position >= stored.position && end.events >= stored.events;
  if (!known) end = stored;
  counted.definition = definition;
  ASSIGN_OR_RETURN(EventMaker maker, EventMaker::Make(engine, definition));
  ASSIGN_OR_RETURN(const auto feed, db::Feed::OfFollower(engine.database(), shard,
                                                         FollowerOf(definition->name), end));
  uint64_t events = end.events;
  const auto visit = [&](const db::Change& change) {
    if (maker.Counts(change)) ++events;
    return true;
  };
  while (true) {
    ASSIGN_OR_RETURN(const size_t given, feed->Read(kCountedAtOnce, visit));
    if (given == 0) break;
    end = feed->state();
    end.events = events;
  }
  std::swap((*counted_.Lock())[shard], counted);
  return events - stored.events;
}

}  // namespace sluice::procedure
