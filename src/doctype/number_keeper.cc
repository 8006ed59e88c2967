#include "doctype/number_keeper.h"

#include <cmath>

#include "json/compare.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr double kExact = 9007199254740992.0;  // 2^53

}  // namespace

NumberKeeper::NumberKeeper(const Value& before) : before_(before) { Collect(before); }

void NumberKeeper::Collect(const Value& value) {
  for (const Value& item : value.items()) Collect(item);
  for (const json::Field& field : value.fields()) Collect(field.value);
  if (!value.is_number() || std::abs(value.ToDouble()) < kExact) return;
  const auto [found, added] = large_.emplace(value.ToDouble(), value);
  if (!added && !json::Equal(found->second, value)) found->second = Value();
}

Value NumberKeeper::Restore(const Value& before, const Value& after) const {
  if (after.is_number()) {
    const double number = after.ToDouble();
    if (before.is_number() && before.ToDouble() == number) return before;
    const auto found = large_.find(number);
    return found == large_.end() || found->second.is_missing() ? after : found->second;
  }
  if (after.is_array()) {
    std::vector<Value> items;
    items.reserve(after.size());
    for (size_t i = 0; i < after.size(); ++i) items.push_back(Restore(before[i], after[i]));
    return Value::Array(std::move(items));
  }
  if (after.is_object()) {
    Value object = Value::EmptyObject();
    for (const json::Field& field : after.fields()) {
      object.Set(field.name(), Restore(before[field.name()], field.value));
    }
    return object;
  }
  return after;
}

}  // namespace sluice::doctype
