// How much memory values take, for limits.
#pragma once

#include <cstddef>

#include "json/value.h"

namespace sluice::query {

// Values share their parts, so that a small one can be huge when it is written out; counting stops
// here.
inline constexpr size_t kMostCountedBytes = size_t{1} << 28;

// The bytes that an allocation takes beyond its size.
inline constexpr size_t kAllocationBytes = 16;

// About the memory that `value` and everything in it would take if nothing were shared; at most a
// little more than kMostCountedBytes.
size_t ApproximateBytes(const json::Value& value);

// The bytes that a value holds outside of itself: 0 for a number or a short string.
inline size_t HeldBytes(const json::Value& value) {
  const bool holds = value.is_string() || value.is_bytes() || value.is_array() || value.is_object();
  return holds ? ApproximateBytes(value) - sizeof(json::Value) : 0;
}

// How deep values may be nested while a statement runs: deeper ones would overflow the stack when
// they are compared or printed. Documents have at most json::kMaxDepth levels.
inline constexpr int kMaxValueDepth = 2 * json::kMaxDepth;

// Whether the value has at most that many levels of arrays and objects and takes at most
// kMostCountedBytes.
bool FitsLimits(const json::Value& value, int max_depth = kMaxValueDepth);
// The same with kMaxValueDepth; `*bytes` gets the counted bytes.
bool FitsLimits(const json::Value& value, size_t* bytes);

}  // namespace sluice::query
