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

// In order of their moments, beginning with `from`; false ends it.
using Visitor = std::function<bool(Timer timer)>;
Status Visit(const db::Database& database, std::string_view owner, const Moment& from,
             const Visitor& visitor);

// Those who have timers.
Result<std::vector<std::string>> Owners(const db::Database& database);

// Removes all of its timers, in several commits: the owner must not run any more, and after a crash
// it must be done again. Waits.
Status DropOwner(db::Database& database, std::string_view owner);

}  // namespace sluice::timer
