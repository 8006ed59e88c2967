// Datetime and Interval, the time types of table columns. Neither knows a time zone: a datetime is
// an instant, shown in UTC.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace sluice::json {

struct Datetime {
  int64_t us = 0;  // microseconds since 1970-01-01T00:00:00Z

  auto operator<=>(const Datetime&) const = default;
};

// Months and seconds do not convert into each other, so an interval is of one kind; every
// year-month interval orders before every day-second interval.
struct Interval {
  enum class Kind : uint8_t { kYearMonth, kDaySecond };

  Kind kind = Kind::kDaySecond;
  int64_t amount = 0;  // months, or microseconds

  auto operator<=>(const Interval&) const = default;
};

// 2024-05-10T12:34:56.789Z; six digits of fraction when there are odd microseconds. Years outside
// 0000..9999 have a sign and at least six digits (+012024), as ISO 8601 extends them.
void AppendDatetime(Datetime value, std::string* out);

// Year-month as "2-03" (years, months), day-second as "3 04:05:06.000" (days, hours, minutes,
// seconds, three or six digits of fraction); a negative one starts with '-'.
void AppendInterval(Interval value, std::string* out);

}  // namespace sluice::json
