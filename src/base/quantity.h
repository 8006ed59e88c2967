// Durations and sizes as people write them: "250ms", "5s", "10m", "2h", "7d"; "512", "64KiB",
// "20MiB", "1GiB" (also KB, MB, GB for powers of 1000). The one parser for both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice {

// A unit is required, except for 0.
Result<uint64_t> ParseDurationMs(std::string_view text);
// A bare number is bytes.
Result<uint64_t> ParseSizeBytes(std::string_view text);

// The shortest exact form: 90000 -> "90s", 3600000 -> "1h".
std::string FormatDurationMs(uint64_t ms);
std::string FormatSizeBytes(uint64_t bytes);

}  // namespace sluice
