// A time zone of the system's database, and datetimes in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/temporal.h"

namespace date {
class time_zone;
}

namespace sluice::lua {

struct Zone {
  const date::time_zone* zone = nullptr;  // null: UTC

  std::string name() const;
  static std::optional<Zone> Named(std::string_view name);
};

struct DatetimeFields {
  int64_t year = 1970;
  int64_t month = 1;
  int64_t day = 1;
  int64_t yday = 1;  // from 1
  int64_t wday = 1;  // Sunday is 1
  int64_t hour = 0;
  int64_t min = 0;
  int64_t sec = 0;
  int64_t usec = 0;  // below a second
  bool isdst = false;
};

DatetimeFields FieldsOf(json::Datetime datetime, const Zone& zone);
// Out of range fields give nothing. A local time that there is not, or twice, is the earlier one.
std::optional<json::Datetime> DatetimeOf(const DatetimeFields& fields, const Zone& zone);

// 2019-12-19T131422.330 America/New_York
std::string DatetimeText(json::Datetime datetime, const Zone& zone, int digits);
// Reads the output of DatetimeText, and ISO 8601: 2019-12-19[T| ]13:14:22[.330][Z| zone]. A text
// without a zone is in `zone`.
std::optional<json::Datetime> ParseDatetime(std::string_view text, const Zone& zone);

}  // namespace sluice::lua
