// Events that an operator has removed from a trigger's queue. They are stored as failures whose
// owner is the trigger's follower and whose data is the event's row of the log
// (docs/formats/failures.md).
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
// Makes a dead letter of an event that is still in the log, in the event's shard. The caller sets
// the problem and the times.
Result<DeadLetter> DeadLetterOf(db::Database& database, const TriggerEvent& event);

// The event of a dead letter, for another run. Error trigger.source_gone when its table was
// dropped.
Result<TriggerEvent> EventAgain(const db::Database& database, EventMaker& maker,
                                const failure::Failure& failure, std::string_view payload);

// A view for operators: id, name, type, key, shard (if the database has several), tid, sequence,
// time_ms.
Value EventSummary(const TriggerEvent& event);
Value EventSummary(const failure::Failure& failure);
// That view with `new` and `old`.
Value EventView(const TriggerEvent& event);

}  // namespace sluice::procedure
