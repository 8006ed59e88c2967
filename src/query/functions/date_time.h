// Moments and the calendar. A moment knows the zone it is shown in; years reach from -9999 to 9999;
// code that makes moments refuses others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace date {
class time_zone;
}

namespace sluice::query {

inline int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// A named zone, or one of a fixed offset from UTC in seconds. The default is UTC.
struct Zone {
  const date::time_zone* named = nullptr;
  int32_t offset = 0;
};

// As the system's tzdata spells it ("Europe/Paris"); an empty name is UTC.
std::optional<Zone> FindZone(std::string_view name);

struct Moment {
  int64_t seconds = 0;  // since 1970-01-01T00:00:00Z
  int32_t nanos = 0;    // 0 .. 999,999,999
  Zone zone;
};

// A date and time of the calendar and clock.
struct Civil {
  int year = 0;
  int month = 1;  // 1 .. 12
  int day = 1;    // 1 .. 31
  int hour = 0;
  int minute = 0;
  int second = 0;
  int nanos = 0;
  int offset = 0;  // of the zone, in seconds; ignored by MomentOf
};

inline constexpr int kMaxYear = 9999;
bool IsMomentInRange(int64_t seconds);

Civil CivilOf(const Moment& moment);
// A clock that jumps over this time gives the moment of the jump, one that shows it twice the
// first. Nothing when the year is out of range.
std::optional<Moment> MomentOf(const Civil& civil, Zone zone);

// Milliseconds since 1970, as functions take and give them.
std::optional<Moment> MomentOfMillis(double millis, Zone zone);
json::Value MillisOf(const Moment& moment);

// "CET", "+0530"; and "Europe/Paris" where the zone has a name.
std::string ZoneAbbreviation(const Moment& moment);
std::string ZoneName(const Moment& moment);

// Days since 1970-01-01; `day` may be any number.
int64_t DayNumber(int64_t year, int month, int64_t day);
int DaysInMonth(int year, int month);
// 0 is Sunday.
int WeekdayOf(const Civil& civil);
// From 1.
int YearDayOf(const Civil& civil);
struct IsoWeek {
  int year;
  int week;
};
IsoWeek IsoWeekOf(const Civil& civil);

std::string_view MonthName(int month);
std::string_view WeekdayName(int weekday);

}  // namespace sluice::query
