// Datetimes and intervals as text, the way Comdb2 writes them: "2019-12-19T131422.330 UTC", "0-5",
// "1 02:03:04.000". ISO 8601 is read, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/temporal.h"

namespace sluice::db {

bool IsTimeZone(std::string_view name);

// A date, a time of day with or without colons, up to nine digits of fraction, and a zone: Z, an
// offset, or a name after a blank. A text that names none is in `zone`. Nothing when it is no such
// text.
std::optional<json::Datetime> ParseDatetime(std::string_view text, std::string_view zone = "UTC");

// In the zone, which is a known one, with three or six digits of fraction.
std::string FormatDatetime(json::Datetime value, std::string_view zone, int digits);

// "y-m" and "d h:m:s.f", with a sign.
std::optional<json::Interval> ParseIntervalYm(std::string_view text);
std::optional<json::Interval> ParseIntervalDs(std::string_view text);
std::string FormatInterval(json::Interval value);

}  // namespace sluice::db
