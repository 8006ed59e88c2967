// Reading the arguments of functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

#include "json/value.h"
#include "query/functions/function.h"

namespace sluice::query {

// Most elements or repetitions that a function makes from numbers (REPEAT, DATE_RANGE_STR, ...).
inline constexpr int64_t kRangeLimit = 1 << 24;

// A number without a fraction; beyond the range of int64 its nearest end.
inline std::optional<int64_t> WholeNumber(const Value& value) {
  if (value.is_int()) return value.AsInt();
  if (!value.is_number()) return std::nullopt;
  const double number = value.ToDouble();
  if (std::trunc(number) != number) return std::nullopt;  // NaN too
  if (number >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (number < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(number);
}

// Whether the arguments number `first` and on are all strings.
inline bool AllStrings(Args args, size_t first = 0) {
  for (size_t i = first; i < args.size(); ++i) {
    if (!args[i]->is_string()) return false;
  }
  return true;
}

inline std::string_view TextOf(Args args, size_t i) { return args[i]->AsString(); }

}  // namespace sluice::query
