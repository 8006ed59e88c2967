// Makes the Lua values of events.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "procedure/trigger/event.h"

namespace sluice::procedure {

// The fields of an event's table besides id, name, type, new and old.
struct EventFields {
  bool tid = false;
  bool epoch = false;
  bool sequence = false;
};
// The Lua table that a procedure gets.
Value EventValue(const TriggerEvent& event, EventFields fields);

// Remembers the last events of a run, for db:get_event_epoch and similar methods.
class RecentEvents {
 public:
  struct Facts {
    std::string id;
    int64_t tid = 0;
    int64_t epoch = 0;
    int64_t sequence = 0;
  };
  void Note(const TriggerEvent& event);
  // Null if the event is not one of them.
  const Facts* Find(std::string_view id) const;
  // Null when there was none.
  const Facts* last() const { return facts_.empty() ? nullptr : &facts_.back(); }

 private:
  static constexpr size_t kMost = 10'000;
  std::deque<Facts> facts_;  // in the order of their ids, mostly
};

}  // namespace sluice::procedure
