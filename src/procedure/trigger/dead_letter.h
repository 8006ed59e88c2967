// Events that an operator took out of a trigger's way: failures (queue) of its follower's name,
// with the event's row of the log as their data (docs/formats/failures.md).
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "db/database.h"
#include "failure/failure.h"
#include "json/value.h"
#include "procedure/trigger/event.h"

namespace sluice::procedure {

struct DeadLetter {
  failure::Failure failure;
  std::string payload;
};
// Of an event that is still in the log. The problem and the times are the caller's to set.
Result<DeadLetter> DeadLetterOf(db::Database& database, const TriggerEvent& event);

// The event, to be run again. Error trigger.source_gone when its table was dropped.
Result<TriggerEvent> EventAgain(EventMaker& maker, const failure::Failure& failure,
                                std::string_view payload);

// For people: id, name, type, key, tid, sequence, time_ms.
Value EventSummary(const TriggerEvent& event);
Value EventSummary(const failure::Failure& failure);
// The same with `new` and `old`.
Value EventView(const TriggerEvent& event);

}  // namespace sluice::procedure
