// How much memory values take, for limits.
#pragma once

#include <cstddef>

#include "json/value.h"

namespace sluice::query {

// Values share their parts, so that a small one can be huge when it is written out; counting stops
// here.
inline constexpr size_t kMostCountedBytes = size_t{1} << 28;

// About the memory that `value` and everything in it would take if nothing were shared; at most a
// little more than kMostCountedBytes.
size_t ApproximateBytes(const json::Value& value);

}  // namespace sluice::query
