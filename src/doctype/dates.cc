#include "doctype/dates.h"

#include <chrono>

#include <fmt/format.h>

namespace sluice::doctype {
namespace {

constexpr int64_t kMsOfDay = 86'400'000;

// Takes `digits` digits from the front.
bool TakeNumber(std::string_view* text, size_t digits, int* number) {
  if (text->size() < digits) return false;
  *number = 0;
  for (size_t i = 0; i < digits; ++i) {
    const char c = (*text)[i];
    if (c < '0' || c > '9') return false;
    *number = *number * 10 + (c - '0');
  }
  text->remove_prefix(digits);
  return true;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

std::optional<int64_t> DaysOf(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

// ".478", at least one digit.
bool TakeFraction(std::string_view* text, Instant* time) {
  if (!TakeChar(text, '.')) return true;
  int scale = 100;
  while (!text->empty() && text->front() >= '0' && text->front() <= '9') {
    time->ms += (text->front() - '0') * scale;
    scale /= 10;
    ++time->fraction_digits;
    text->remove_prefix(1);
  }
  return time->fraction_digits > 0;
}

// "Z", "z" or "+01:00" at the end, in minutes.
std::optional<int> ReadOffset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (!TakeNumber(&text, 2, &hours) || !TakeChar(&text, ':') || !TakeNumber(&text, 2, &minutes) ||
      !text.empty() || hours > 23 || minutes > 59) {
    return std::nullopt;
  }
  return sign * (hours * 60 + minutes);
}

}  // namespace

std::optional<int64_t> ParseDate(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!TakeNumber(&text, 4, &year) || !TakeChar(&text, '-') || !TakeNumber(&text, 2, &month) ||
      !TakeChar(&text, '-') || !TakeNumber(&text, 2, &day) || !text.empty()) {
    return std::nullopt;
  }
  return DaysOf(year, month, day);
}

std::optional<Instant> ParseTime(std::string_view text) {
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  if (!TakeNumber(&text, 2, &hours) || !TakeChar(&text, ':') || !TakeNumber(&text, 2, &minutes) ||
      !TakeChar(&text, ':') || !TakeNumber(&text, 2, &seconds) || hours > 23 || minutes > 59 ||
      seconds > 60) {
    return std::nullopt;
  }
  Instant time;
  time.ms = ((hours * 60 + minutes) * 60 + seconds) * 1000;
  if (!TakeFraction(&text, &time)) return std::nullopt;
  const auto offset = ReadOffset(text);
  if (!offset) return std::nullopt;
  time.ms -= *offset * 60'000;
  // A leap second is the last one of a day, in UTC.
  if (seconds == 60) {
    const int64_t in_day = ((time.ms - time.ms % 1000) % kMsOfDay + kMsOfDay) % kMsOfDay;
    if (in_day != 0) return std::nullopt;
  }
  return time;
}

std::optional<Instant> ParseDateTime(std::string_view text) {
  constexpr size_t kDateBytes = 10;
  if (text.size() <= kDateBytes) return std::nullopt;
  const char between = text[kDateBytes];
  if (between != 'T' && between != 't' && between != ' ') return std::nullopt;
  const auto days = ParseDate(text.substr(0, kDateBytes));
  const auto time = ParseTime(text.substr(kDateBytes + 1));
  if (!days || !time) return std::nullopt;
  return Instant{*days * kMsOfDay + time->ms, time->fraction_digits};
}

std::optional<int64_t> ParseMonthDate(std::string_view text) {
  constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos || blank < 3) return std::nullopt;
  const std::string_view name = text.substr(0, blank);
  int month = 0;
  for (int i = 0; i < 12; ++i) {
    if (name == kMonths[i] || name == kMonths[i].substr(0, 3)) month = i + 1;
  }
  text.remove_prefix(blank + 1);
  const size_t digits = text.size() > 1 && text[1] >= '0' && text[1] <= '9' ? 2 : 1;
  int day = 0;
  int year = 0;
  if (month == 0 || !TakeNumber(&text, digits, &day)) return std::nullopt;
  if (text.starts_with(',')) text.remove_prefix(1);
  if (!TakeChar(&text, ' ') || !TakeNumber(&text, 4, &year) || !text.empty()) {
    return std::nullopt;
  }
  return DaysOf(year, month, day);
}

std::string FormatDate(int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace sluice::doctype
