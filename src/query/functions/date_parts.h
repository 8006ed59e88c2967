// Parts of dates by name ("month", "iso_week", ...): reading, adding, cutting off, counting. All of
// them use calendar and clock of the moment's zone. Names are not case-sensitive. Nullopt for an
// unknown name, one without a meaning in this function, and results out of range.
#pragma once

#include <optional>
#include <string_view>

#include "query/functions/date_time.h"

namespace sluice::query {

std::optional<int64_t> DatePart(const Moment& moment, std::string_view part);
// A month after January 31st is March 2nd or 3rd; a calendar_month after it ends February.
std::optional<Moment> AddToDate(const Moment& moment, int64_t count, std::string_view part);
std::optional<Moment> TruncateDate(const Moment& moment, std::string_view part);
// How many boundaries of the part lie between the two; weeks and decades count days and years.
std::optional<int64_t> DateDifference(const Moment& a, const Moment& b, std::string_view part);

}  // namespace sluice::query
