#include "doctype/number_keeper.h"

#include <algorithm>
#include <cmath>

#include "json/compare.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr double kExact = 9007199254740992.0;  // 2^53

// The position after a string's closing quote; `at` is after the opening one.
size_t AfterString(std::string_view json, size_t at) {
  while (true) {
    const size_t quote = json.find('"', at);
    if (quote == std::string_view::npos) return json.size();
    size_t first = quote;
    while (first > at && json[first - 1] == '\\') --first;
    at = quote + 1;
    if ((quote - first) % 2 == 0) return at;
  }
}

// Whole, without a sign or an exponent, and short enough to be exact.
bool IsPlain(std::string_view literal) {
  constexpr size_t kExactDigits = 15;
  return literal.size() <= kExactDigits &&
         literal.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool NumberKeeper::Needed(std::string_view document) {
  size_t at = 0;
  while ((at = document.find_first_of("\"-0123456789", at)) < document.size()) {
    if (document[at] == '"') {
      at = AfterString(document, at + 1);
      continue;
    }
    const size_t end = std::min(document.find_first_not_of("0123456789+-.eE", at), document.size());
    if (!IsPlain(document.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

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
