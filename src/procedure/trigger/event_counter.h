// How many events wait for a trigger or a consumer. What was counted before is not read again: a
// count costs what was committed since the last one.
//
// Concurrency: any thread; one counts at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/status.h"
#include "db/cursor.h"
#include "procedure/trigger/definition.h"
#include "query/engine.h"

namespace sluice::procedure {

class EventCounter {
 public:
  // Of those after the cursor `stored`.
  Result<uint64_t> Count(query::QueryEngine& engine,
                         std::shared_ptr<const TriggerDefinition> definition,
                         const db::CursorState& stored);

 private:
  std::mutex mutex_;
  // Under mutex_: how far the log was counted, and what number the last event up to there has, by
  // this definition.
  db::CursorState counted_;
  std::shared_ptr<const TriggerDefinition> definition_;
};

}  // namespace sluice::procedure
