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
                                     const db::CursorState& stored) {
  const std::lock_guard lock(mutex_);
  const bool known = definition_ != nullptr && definition_->sources == definition->sources &&
                     counted_.position >= stored.position && counted_.events >= stored.events;
  if (!known) counted_ = stored;
  definition_ = definition;
  ASSIGN_OR_RETURN(EventMaker maker, EventMaker::Make(engine, definition));
  ASSIGN_OR_RETURN(const auto feed, db::Feed::OfFollower(engine.database(), kTriggerShard,
                                                         FollowerOf(definition->name), counted_));
  uint64_t events = counted_.events;
  const auto visit = [&](const db::Change& change) {
    if (maker.Counts(change)) ++events;
    return true;
  };
  while (true) {
    ASSIGN_OR_RETURN(const size_t given, feed->Read(kCountedAtOnce, visit));
    if (given == 0) break;
    counted_ = feed->state();
    counted_.events = events;
  }
  return events - stored.events;
}

}  // namespace sluice::procedure
