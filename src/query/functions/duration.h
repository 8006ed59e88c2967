// Durations in nanoseconds as text, in the styles that Couchbase has:
//   legacy      1h30m2.5s, 1.5ms
//   interval    1:30:02.500
//   compatible  5402.500s
//   seconds     5402.500
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::query {

enum class DurationStyle : uint8_t { kAny, kLegacy, kInterval, kCompatible, kSeconds };

// By name, in any case; an empty one and "default" are kAny.
std::optional<DurationStyle> FindDurationStyle(std::string_view name);

// kAny prints as kLegacy.
std::string PrintDuration(int64_t nanos, DurationStyle style);
// kAny takes all of them. Nothing when the text is no duration or it does not fit.
std::optional<int64_t> ParseDuration(std::string_view text, DurationStyle style);

}  // namespace sluice::query
