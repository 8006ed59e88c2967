#include "query/functions/date_parts.h"

#include <algorithm>
#include <cstdlib>

#include "query/functions/text.h"

namespace sluice::query {
namespace {

constexpr int kMilliNanos = 1'000'000;

enum class Part : uint8_t {
  kMillennium,
  kCentury,
  kDecade,
  kYear,
  kQuarter,
  kMonth,
  kCalendarMonth,
  kWeek,
  kDay,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kDayOfYear,
  kDayOfWeek,
  kIsoWeek,
  kIsoYear,
  kIsoDayOfWeek,
  kTimezone,
  kTimezoneHour,
  kTimezoneMinute,
};

std::optional<Part> FindPart(std::string_view name) {
  struct Named {
    std::string_view name;
    Part part;
  };
  constexpr Named kParts[] = {
      {"millennium", Part::kMillennium},
      {"century", Part::kCentury},
      {"decade", Part::kDecade},
      {"year", Part::kYear},
      {"quarter", Part::kQuarter},
      {"month", Part::kMonth},
      {"calendar_month", Part::kCalendarMonth},
      {"week", Part::kWeek},
      {"day", Part::kDay},
      {"hour", Part::kHour},
      {"minute", Part::kMinute},
      {"second", Part::kSecond},
      {"millisecond", Part::kMillisecond},
      {"day_of_year", Part::kDayOfYear},
      {"doy", Part::kDayOfYear},
      {"day_of_week", Part::kDayOfWeek},
      {"dow", Part::kDayOfWeek},
      {"iso_week", Part::kIsoWeek},
      {"iso_year", Part::kIsoYear},
      {"iso_dow", Part::kIsoDayOfWeek},
      {"timezone", Part::kTimezone},
      {"timezone_hour", Part::kTimezoneHour},
      {"timezone_minute", Part::kTimezoneMinute},
  };
  const std::string lower = ToLowerAscii(name);
  for (const Named& known : kParts) {
    if (known.name == lower) return known.part;
  }
  return std::nullopt;
}

// In years; 0 for what is no number of years.
int64_t YearsOf(Part part) {
  switch (part) {
    case Part::kMillennium:
      return 1000;
    case Part::kCentury:
      return 100;
    case Part::kDecade:
      return 10;
    case Part::kYear:
      return 1;
    default:
      return 0;
  }
}

// In milliseconds, of those that always have the same; else 0.
int64_t MillisOfPart(Part part) {
  switch (part) {
    case Part::kHour:
      return 3'600'000;
    case Part::kMinute:
      return 60'000;
    case Part::kSecond:
      return 1000;
    case Part::kMillisecond:
      return 1;
    default:
      return 0;
  }
}

int64_t DaysOf(const Civil& civil) { return DayNumber(civil.year, civil.month, civil.day); }

std::optional<Moment> AddMonths(const Moment& moment, int64_t months, Part part) {
  Civil civil = CivilOf(moment);
  const int64_t total = int64_t{civil.year} * 12 + civil.month - 1 + months;
  const int64_t year = total / 12 - (total % 12 < 0 ? 1 : 0);
  if (std::abs(year) > kMaxYear) return std::nullopt;
  const bool ends_month = civil.day == DaysInMonth(civil.year, civil.month);
  civil.year = static_cast<int>(year);
  civil.month = static_cast<int>(total - year * 12) + 1;
  if (part == Part::kCalendarMonth && months != 0) {
    const int last = DaysInMonth(civil.year, civil.month);
    civil.day = ends_month ? last : std::min(civil.day, last);
  }
  // A day past the end of its month is one of the next; MomentOf counts on.
  return MomentOf(civil, moment.zone);
}

std::optional<Moment> AddDays(const Moment& moment, int64_t days) {
  constexpr int64_t kFarAway = 4'000'000'000;  // no date plus this is in range
  if (std::abs(days) > kFarAway) return std::nullopt;
  // The clock of a zone shows the same after so many days, however long they were.
  Civil civil = CivilOf(moment);
  const Moment target{.seconds = (DaysOf(civil) + days) * 86'400, .nanos = 0, .zone = {}};
  if (!IsMomentInRange(target.seconds)) return std::nullopt;
  const Civil shifted = CivilOf(target);
  civil.year = shifted.year;
  civil.month = shifted.month;
  civil.day = shifted.day;
  return MomentOf(civil, moment.zone);
}

std::optional<Moment> AddMillis(const Moment& moment, int64_t millis) {
  const int64_t seconds = millis / 1000;
  int64_t nanos = moment.nanos + millis % 1000 * kMilliNanos;
  Moment sum = moment;
  sum.seconds += seconds;
  if (nanos < 0) {
    nanos += 1'000'000'000;
    --sum.seconds;
  } else if (nanos >= 1'000'000'000) {
    nanos -= 1'000'000'000;
    ++sum.seconds;
  }
  sum.nanos = static_cast<int32_t>(nanos);
  if (!IsMomentInRange(sum.seconds)) return std::nullopt;
  return sum;
}

// Milliseconds that the clock shows, as if every day had as many.
int64_t ShownMillis(const Civil& civil) {
  return ((DaysOf(civil) * 24 + civil.hour) * 60 + civil.minute) * 60'000 + civil.second * 1000 +
         civil.nanos / kMilliNanos;
}

}  // namespace

std::optional<int64_t> DatePart(const Moment& moment, std::string_view name) {
  const auto part = FindPart(name);
  if (!part) return std::nullopt;
  const Civil civil = CivilOf(moment);
  switch (*part) {
    case Part::kMillennium:
      return civil.year / 1000 + 1;
    case Part::kCentury:
      return civil.year / 100 + 1;
    case Part::kDecade:
      return civil.year / 10;
    case Part::kYear:
      return civil.year;
    case Part::kQuarter:
      return (civil.month + 2) / 3;
    case Part::kMonth:
    case Part::kCalendarMonth:
      return civil.month;
    case Part::kWeek:
      return (YearDayOf(civil) + 6) / 7;
    case Part::kDay:
      return civil.day;
    case Part::kHour:
      return civil.hour;
    case Part::kMinute:
      return civil.minute;
    case Part::kSecond:
      return civil.second;
    case Part::kMillisecond:
      return civil.nanos / kMilliNanos;
    case Part::kDayOfYear:
      return YearDayOf(civil);
    case Part::kDayOfWeek:
      return WeekdayOf(civil);
    case Part::kIsoWeek:
      return IsoWeekOf(civil).week;
    case Part::kIsoYear:
      return IsoWeekOf(civil).year;
    case Part::kIsoDayOfWeek:
      return (WeekdayOf(civil) + 6) % 7 + 1;
    case Part::kTimezone:
      return civil.offset;
    case Part::kTimezoneHour:
      return civil.offset / 3600;
    case Part::kTimezoneMinute:
      return civil.offset % 3600 / 60;
  }
  return std::nullopt;
}

std::optional<Moment> AddToDate(const Moment& moment, int64_t count, std::string_view name) {
  const auto part = FindPart(name);
  constexpr int64_t kMost = 700'000'000'000'000;  // milliseconds between the ends of the range
  if (!part || count > kMost || count < -kMost) return std::nullopt;
  if (const int64_t years = YearsOf(*part); years > 0) {
    return AddMonths(moment, count * years * 12, *part);
  }
  if (*part == Part::kQuarter) return AddMonths(moment, count * 3, *part);
  if (*part == Part::kMonth || *part == Part::kCalendarMonth) {
    return AddMonths(moment, count, *part);
  }
  if (*part == Part::kWeek) return AddDays(moment, count * 7);
  if (*part == Part::kDay) return AddDays(moment, count);
  if (const int64_t millis = MillisOfPart(*part); millis > 0) {
    int64_t total = 0;
    if (__builtin_mul_overflow(count, millis, &total) || std::abs(total) > kMost) {
      return std::nullopt;
    }
    return AddMillis(moment, total);
  }
  return std::nullopt;
}

std::optional<Moment> TruncateDate(const Moment& moment, std::string_view name) {
  const auto part = FindPart(name);
  if (!part) return std::nullopt;
  Civil civil = CivilOf(moment);
  if (const int64_t millis = MillisOfPart(*part); millis > 0) {
    civil.nanos = millis == 1 ? civil.nanos / kMilliNanos * kMilliNanos : 0;
    if (*part < Part::kSecond) civil.second = 0;
    if (*part < Part::kMinute) civil.minute = 0;
    return MomentOf(civil, moment.zone);
  }
  civil.hour = civil.minute = civil.second = civil.nanos = 0;
  if (*part == Part::kDay) return MomentOf(civil, moment.zone);
  if (*part == Part::kWeek || *part == Part::kIsoWeek) {
    const int weekday = WeekdayOf(civil);
    const auto midnight = MomentOf(civil, moment.zone);
    if (!midnight) return std::nullopt;
    return AddDays(*midnight, *part == Part::kWeek ? -weekday : -((weekday + 6) % 7));
  }
  civil.day = 1;
  if (*part == Part::kMonth || *part == Part::kCalendarMonth) return MomentOf(civil, moment.zone);
  if (*part == Part::kQuarter) {
    civil.month -= (civil.month - 1) % 3;
    return MomentOf(civil, moment.zone);
  }
  const auto years = static_cast<int>(YearsOf(*part));
  if (years == 0) return std::nullopt;
  civil.month = 1;
  civil.year -= civil.year % years;
  return MomentOf(civil, moment.zone);
}

std::optional<int64_t> DateDifference(const Moment& a, const Moment& b, std::string_view name) {
  const auto part = FindPart(name);
  if (!part) return std::nullopt;
  const Civil first = CivilOf(a), second = CivilOf(b);
  if (const int64_t years = YearsOf(*part); years > 0) return (first.year - second.year) / years;
  if (const int64_t millis = MillisOfPart(*part); millis > 0) {
    return FloorDivide(ShownMillis(first), millis) - FloorDivide(ShownMillis(second), millis);
  }
  const int64_t days = DaysOf(first) - DaysOf(second);
  const int years = first.year - second.year;
  switch (*part) {
    case Part::kDay:
      return days;
    case Part::kWeek:
      return days / 7;
    case Part::kMonth:
    case Part::kCalendarMonth:
      return years * 12 + first.month - second.month;
    case Part::kQuarter:
      return years * 4 + (first.month + 2) / 3 - (second.month + 2) / 3;
    default:
      return std::nullopt;
  }
}

}  // namespace sluice::query
