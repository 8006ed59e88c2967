#include "procedure/trigger/event_value.h"

#include <algorithm>

namespace sluice::procedure {

Value EventValue(const TriggerEvent& event, EventFields fields) {
  Value value =
      Value::Object({{"id", Value::Bytes(event.id())}, {"name", event.name}, {"type", event.type}});
  if (!event.key.empty()) value.Set("key", event.key);
  if (event.HasShard()) value.Set("shard", event.shard);
  value.Set("new", event.inserted);
  value.Set("old", event.deleted);
  if (fields.tid) value.Set("tid", event.tid());
  if (fields.epoch) value.Set("epoch", event.epoch());
  if (fields.sequence) value.Set("sequence", event.sequence());
  return value;
}

void RecentEvents::Note(const TriggerEvent& event) {
  std::string id = event.id();
  if (!facts_.empty() && facts_.back().id == id) return;
  facts_.push_back({std::move(id), event.tid(), event.epoch(), event.sequence()});
  if (facts_.size() > kMost) facts_.pop_front();
}

const RecentEvents::Facts* RecentEvents::Find(std::string_view id) const {
  const auto found = std::find_if(facts_.rbegin(), facts_.rend(),
                                  [&](const Facts& facts) { return facts.id == id; });
  return found == facts_.rend() ? nullptr : &*found;
}

}  // namespace sluice::procedure
