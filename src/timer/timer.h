// A timer: a call of one of its owner's callbacks at a time. The owner handles the timer, for
// example a deployed function. Callback and reference together name the timer among its owner's
// timers.
//
// Each has two rows in the timer family (docs/formats/timers.md), always changed together: one by
// due time, with all fields, and one by name, with the key of the first one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/types.h"

namespace sluice::timer {

// When a timer is due, and which of that moment's it is. Timers of an owner are in this order.
struct Moment {
  uint64_t due_ms = 0;    // since the Unix epoch
  uint64_t id = 0;        // a stamp of the database, Database::NewCas
  db::ShardId shard = 0;  // of the commit that made the timer: its rows are there

  auto operator<=>(const Moment&) const = default;
};

struct Timer {
  std::string callback;  // has no zero byte
  std::string reference;
  Moment moment;
  std::string context;  // JSON text; empty for none

  bool operator==(const Timer&) const = default;
};

// Keys within the shard. Owners' names have no zero byte. OwnerPrefix begins all keys of an owner,
// DuePrefix those by due time.
std::string OwnerPrefix(std::string_view owner);
std::string DuePrefix(std::string_view owner);
std::string DueKey(std::string_view owner, const Moment& moment);
std::string NameKey(std::string_view owner, std::string_view callback, std::string_view reference);

// The rows do not say their shard: decoded moments have shard 0.
std::string EncodeDue(const Timer& timer);
std::string EncodeName(const Moment& moment);
// The owner that a key belongs to.
Result<std::string_view> OwnerOf(std::string_view key);
Result<Timer> DecodeDue(std::string_view key, std::string_view stored);
Result<Moment> DecodeName(std::string_view stored);

}  // namespace sluice::timer
