#include "json/temporal.h"

#include <fmt/format.h>

namespace sluice::json {
namespace {

constexpr int64_t kUsPerSecond = 1'000'000;
constexpr int64_t kUsPerDay = 86'400 * kUsPerSecond;

struct Civil {
  int64_t year;
  int month;
  int day;
};

// The Gregorian date of a day counted from 1970-01-01. Years are counted from March, so that the
// leap day is the last one and the months before it follow a fixed pattern of 153 days in five.
Civil CivilFromDays(int64_t days) {
  constexpr int64_t kDaysPerEra = 146'097;  // 400 years
  const int64_t shifted = days + 719'468;   // since 0000-03-01
  const int64_t era = (shifted >= 0 ? shifted : shifted - (kDaysPerEra - 1)) / kDaysPerEra;
  const int64_t of_era = shifted - era * kDaysPerEra;
  const int64_t year = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const int64_t march_month = (5 * of_year + 2) / 153;
  const int day = static_cast<int>(of_year - (153 * march_month + 2) / 5) + 1;
  const int month = static_cast<int>(march_month < 10 ? march_month + 3 : march_month - 9);
  return {year + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

void AppendTimeOfDay(uint64_t us, std::string* out) {
  const uint64_t seconds = us / kUsPerSecond;
  const uint64_t fraction = us % kUsPerSecond;
  *out += fmt::format("{:02}:{:02}:{:02}.", seconds / 3600, seconds / 60 % 60, seconds % 60);
  *out +=
      fraction % 1000 == 0 ? fmt::format("{:03}", fraction / 1000) : fmt::format("{:06}", fraction);
}

}  // namespace

void AppendDatetime(Datetime value, std::string* out) {
  int64_t days = value.us / kUsPerDay;
  int64_t of_day = value.us % kUsPerDay;
  if (of_day < 0) {
    --days;
    of_day += kUsPerDay;
  }
  const Civil date = CivilFromDays(days);
  const bool plain = date.year >= 0 && date.year <= 9999;
  *out += plain ? fmt::format("{:04}", date.year) : fmt::format("{:+07}", date.year);
  *out += fmt::format("-{:02}-{:02}T", date.month, date.day);
  AppendTimeOfDay(static_cast<uint64_t>(of_day), out);
  *out += 'Z';
}

void AppendInterval(Interval value, std::string* out) {
  if (value.amount < 0) *out += '-';
  const uint64_t amount =
      value.amount < 0 ? -static_cast<uint64_t>(value.amount) : static_cast<uint64_t>(value.amount);
  if (value.kind == Interval::Kind::kYearMonth) {
    *out += fmt::format("{}-{:02}", amount / 12, amount % 12);
    return;
  }
  *out += fmt::format("{} ", amount / kUsPerDay);
  AppendTimeOfDay(amount % kUsPerDay, out);
}

}  // namespace sluice::json
