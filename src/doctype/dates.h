// Dates and times as documents hold them in strings: RFC 3339 ("2018-12-14T03:45:24.478Z"),
// "2018-12-14" and "Dec 14, 2018".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::doctype {

struct Instant {
  int64_t ms = 0;           // since the epoch
  int fraction_digits = 0;  // of the seconds, as written; digits after the third are not in `ms`
};

// Days since the epoch.
std::optional<int64_t> ParseDate(std::string_view text);
// "03:45:24.478Z", "03:45:24+01:00". Milliseconds since midnight, UTC; may be negative.
std::optional<Instant> ParseTime(std::string_view text);
// Both, with T, t or a blank between them. An offset or Z is required.
std::optional<Instant> ParseDateTime(std::string_view text);
// "Dec 14, 2018", "Dec 4, 2018", "December 14, 2018"; days since the epoch.
std::optional<int64_t> ParseMonthDate(std::string_view text);

// "2018-12-14"
std::string FormatDate(int64_t days);

}  // namespace sluice::doctype
