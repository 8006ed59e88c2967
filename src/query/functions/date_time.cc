#include "query/functions/date_time.h"

#include <chrono>
#include <cmath>
#include <cstdlib>

#include <date/tz.h>
#include <fmt/format.h>

#include "query/functions/arithmetic.h"

namespace sluice::query {
namespace {

constexpr int64_t kDaySeconds = 86'400;
constexpr int32_t kSecondNanos = 1'000'000'000;

date::sys_seconds SysSeconds(int64_t seconds) {
  return date::sys_seconds(std::chrono::seconds(seconds));
}

int OffsetAt(const Moment& moment) {
  if (moment.zone.named == nullptr) return moment.zone.offset;
  return static_cast<int>(moment.zone.named->get_info(SysSeconds(moment.seconds)).offset.count());
}

}  // namespace

std::optional<Zone> FindZone(std::string_view name) {
  if (name.empty() || name == "UTC") return Zone{};
  try {
    return Zone{.named = date::locate_zone(std::string(name))};
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

bool IsMomentInRange(int64_t seconds) {
  static const int64_t kFirst = DayNumber(-kMaxYear, 1, 1) * kDaySeconds;
  static const int64_t kEnd = DayNumber(kMaxYear + 1, 1, 1) * kDaySeconds;
  return seconds >= kFirst && seconds < kEnd;
}

Civil CivilOf(const Moment& moment) {
  Civil civil;
  civil.offset = OffsetAt(moment);
  const int64_t local = moment.seconds + civil.offset;
  const int64_t days = FloorDivide(local, kDaySeconds);
  const auto clock = static_cast<int>(local - days * kDaySeconds);
  const date::year_month_day ymd{date::sys_days(date::days(days))};
  civil.year = static_cast<int>(ymd.year());
  civil.month = static_cast<int>(static_cast<unsigned>(ymd.month()));
  civil.day = static_cast<int>(static_cast<unsigned>(ymd.day()));
  civil.hour = clock / 3600;
  civil.minute = clock / 60 % 60;
  civil.second = clock % 60;
  civil.nanos = moment.nanos;
  return civil;
}

std::optional<Moment> MomentOf(const Civil& civil, Zone zone) {
  if (std::abs(civil.year) > kMaxYear) return std::nullopt;
  const int64_t local = DayNumber(civil.year, civil.month, civil.day) * kDaySeconds +
                        civil.hour * 3600 + civil.minute * 60 + civil.second;
  Moment moment{.seconds = local - zone.offset, .nanos = civil.nanos, .zone = zone};
  if (zone.named != nullptr) {
    const date::local_seconds shown{std::chrono::seconds(local)};
    moment.seconds = zone.named->to_sys(shown, date::choose::earliest).time_since_epoch().count();
  }
  if (!IsMomentInRange(moment.seconds)) return std::nullopt;
  return moment;
}

std::optional<Moment> MomentOfMillis(double millis, Zone zone) {
  constexpr double kFarAway = 1e15;
  if (!(std::abs(millis) < kFarAway)) return std::nullopt;
  const double seconds = std::floor(millis / 1000);
  auto nanos = static_cast<int64_t>(std::llround((millis - seconds * 1000) * 1e6));
  Moment moment{.seconds = static_cast<int64_t>(seconds), .nanos = 0, .zone = zone};
  if (nanos == kSecondNanos) {
    ++moment.seconds;
    nanos = 0;
  }
  moment.nanos = static_cast<int32_t>(nanos);
  if (!IsMomentInRange(moment.seconds)) return std::nullopt;
  return moment;
}

json::Value MillisOf(const Moment& moment) {
  return moment.seconds * 1000 + (moment.nanos + 500'000) / 1'000'000;
}

std::string ZoneAbbreviation(const Moment& moment) {
  if (moment.zone.named != nullptr) {
    return moment.zone.named->get_info(SysSeconds(moment.seconds)).abbrev;
  }
  const int offset = moment.zone.offset;
  if (offset == 0) return "UTC";
  const int minutes = std::abs(offset) / 60;
  return fmt::format("{}{:02}{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

std::string ZoneName(const Moment& moment) {
  return moment.zone.named != nullptr ? moment.zone.named->name() : ZoneAbbreviation(moment);
}

int64_t DayNumber(int64_t year, int month, int64_t day) {
  const date::sys_days first = date::year(static_cast<int>(year)) / month / 1;
  return first.time_since_epoch().count() + day - 1;
}

int DaysInMonth(int year, int month) {
  const date::year_month_day_last last = date::year(year) / month / date::last;
  return static_cast<int>(static_cast<unsigned>(last.day()));
}

int WeekdayOf(const Civil& civil) {
  const int64_t thursday_based = DayNumber(civil.year, civil.month, civil.day) + 4;
  return static_cast<int>(thursday_based - FloorDivide(thursday_based, 7) * 7);
}

int YearDayOf(const Civil& civil) {
  return static_cast<int>(DayNumber(civil.year, civil.month, civil.day) -
                          DayNumber(civil.year, 1, 1) + 1);
}

IsoWeek IsoWeekOf(const Civil& civil) {
  // A week belongs to the year that has its Thursday.
  const int from_monday = (WeekdayOf(civil) + 6) % 7;
  const int64_t thursday = DayNumber(civil.year, civil.month, civil.day) - from_monday + 3;
  const date::year_month_day ymd{date::sys_days(date::days(thursday))};
  const int year = static_cast<int>(ymd.year());
  return {year, static_cast<int>((thursday - DayNumber(year, 1, 1)) / 7 + 1)};
}

std::string_view MonthName(int month) {
  constexpr std::string_view kNames[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
  return kNames[month - 1];
}

std::string_view WeekdayName(int weekday) {
  constexpr std::string_view kNames[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                         "Thursday", "Friday", "Saturday"};
  return kNames[weekday];
}

}  // namespace sluice::query
