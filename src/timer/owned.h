// All timers of an owner.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/database.h"
#include "timer/timer.h"

namespace sluice::timer {

// Gets the timers of all shards in the order of their moments, beginning with `from`; return false
// to end the visit.
using Visitor = std::function<bool(Timer timer)>;
Status Visit(const db::Database& database, std::string_view owner, const Moment& from,
             const Visitor& visitor);
// The same in one shard, whatever shard `from` says.
Status VisitIn(const db::Database& database, db::ShardId shard, std::string_view owner,
               const Moment& from, const Visitor& visitor);

// The owners that have timers, in any shard.
Result<std::vector<std::string>> Owners(const db::Database& database);

// Removes all timers of the owner in one shard, in several commits, and waits for them. The owner
// must not run there any more. After a crash in between, call it again.
Status DropOwnerIn(db::Database& database, db::ShardId shard, std::string_view owner);

}  // namespace sluice::timer
