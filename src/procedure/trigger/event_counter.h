// Counts the events that wait for a trigger or a consumer in each shard. A count reads only the
// part of the log that was written after the last count.
//
// Concurrency: any thread. Two counts of a shard at the same time both read that part.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/locked.h"
#include "base/status.h"
#include "db/cursor.h"
#include "procedure/trigger/definition.h"
#include "query/engine.h"

namespace sluice::procedure {

class EventCounter {
 public:
  // The number of the shard's events after the cursor `stored`.
  Result<uint64_t> Count(query::QueryEngine& engine,
                         std::shared_ptr<const TriggerDefinition> definition, db::ShardId shard,
                         const db::CursorState& stored);

 private:
  // The end of the counted part of the log, and the number of the last event before it. Another
  // definition may have other events.
  struct Counted {
    db::CursorState end;
    std::shared_ptr<const TriggerDefinition> definition;
  };
  Locked<std::map<db::ShardId, Counted>> counted_;
};

}  // namespace sluice::procedure
