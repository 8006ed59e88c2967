// Reading the arguments of functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "json/value.h"
#include "query/functions/arithmetic.h"
#include "query/functions/function.h"

namespace sluice::query {

// Most elements or repetitions that a function makes from numbers (REPEAT, DATE_RANGE_STR, ...).
inline constexpr int64_t kRangeLimit = 1 << 24;

// Neither MISSING nor NULL.
inline bool IsKnown(const json::Value& value) { return !value.is_missing() && !value.is_null(); }

// Whether the arguments number `first` and on are all strings.
inline bool AllStrings(Args args, size_t first = 0) {
  for (size_t i = first; i < args.size(); ++i) {
    if (!args[i]->is_string()) return false;
  }
  return true;
}

inline std::string_view TextOf(Args args, size_t i) { return args[i]->AsString(); }

}  // namespace sluice::query
