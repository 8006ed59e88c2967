// How a trigger is doing, for operators.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "db/types.h"

namespace sluice::procedure {

// The event at the head of a shard, while it fails.
struct FailingHead {
  std::string event_id;  // twelve bytes
  uint32_t attempts = 0;
  uint64_t next_try_ms = 0;
  uint64_t first_ms = 0;
  std::string error;  // of the last attempt
  uint64_t error_ms = 0;
};

struct TriggerProgress {
  enum class State : uint8_t { kWaiting, kRunning, kFailing, kHeld, kStopped };
  State state = State::kWaiting;
  uint64_t handled = 0;    // events, since the server started
  uint64_t failures = 0;   // runs that failed
  uint64_t conflicts = 0;  // commits that were refused and run again
  std::map<db::ShardId, FailingHead> failing;
  std::string error;  // of the last failure; stays after a success
  uint64_t error_ms = 0;

  // Null if no head fails.
  const FailingHead* first_failing() const {
    return failing.empty() ? nullptr : &failing.begin()->second;
  }
  // Of the event of first_failing.
  uint32_t attempts() const { return failing.empty() ? 0 : failing.begin()->second.attempts; }
};
std::string_view StateName(TriggerProgress::State state);

}  // namespace sluice::procedure
