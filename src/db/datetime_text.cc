#include "db/datetime_text.h"

#include <chrono>
#include <cstdlib>

#include <date/tz.h>
#include <fmt/format.h>

namespace sluice::db {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr int64_t kDaySeconds = 86'400;

const date::time_zone* ZoneOf(std::string_view name) {
  try {
    return date::locate_zone(name == "Z" ? "UTC" : std::string(name));
  } catch (const std::runtime_error&) {
    return nullptr;
  }
}

// Reads a text from its start.
class DatetimeReader {
 public:
  explicit DatetimeReader(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool Accept(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool AtDigit() const { return Peek() >= '0' && Peek() <= '9'; }
  // As many digits as there are, at most `most`; nothing when there are fewer than `least`.
  std::optional<int64_t> Digits(size_t least, size_t most) {
    const size_t from = at_;
    int64_t number = 0;
    while (AtDigit() && at_ - from < most) number = number * 10 + (text_[at_++] - '0');
    if (at_ - from < least) return std::nullopt;
    return number;
  }
  // Digits after a point, as microseconds; none are 0.
  std::optional<int64_t> Fraction() {
    if (!Accept('.')) return 0;
    const size_t from = at_;
    if (!Digits(1, 9)) return std::nullopt;
    std::string digits(text_.substr(from, at_ - from));
    digits.resize(6, '0');
    return std::atoll(digits.c_str());
  }
  std::string_view Rest() const { return text_.substr(at_); }

 private:
  const std::string_view text_;
  size_t at_ = 0;
};

struct Clock {
  int64_t seconds = 0;
  int64_t us = 0;
};

// hhmmss, hh:mm:ss or hh:mm, with a fraction of the second.
std::optional<Clock> ReadClock(DatetimeReader& reader) {
  const auto hours = reader.Digits(2, 2);
  const bool colons = reader.Accept(':');
  const auto minutes = reader.Digits(2, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  Clock clock{.seconds = *hours * 3600 + *minutes * 60};
  if (colons ? reader.Accept(':') : reader.AtDigit()) {
    const auto seconds = reader.Digits(2, 2);
    const auto us = reader.Fraction();
    if (!seconds || *seconds > 59 || !us) return std::nullopt;
    clock.seconds += *seconds;
    clock.us = *us;
  }
  return clock;
}

// +hh:mm, -hhmm: seconds.
std::optional<int64_t> ReadOffset(std::string_view text) {
  DatetimeReader reader(text);
  const bool west = reader.Accept('-');
  if (!west && !reader.Accept('+')) return std::nullopt;
  const auto hours = reader.Digits(2, 2);
  reader.Accept(':');
  const auto minutes = reader.AtEnd() ? std::optional<int64_t>(0) : reader.Digits(2, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59 || !reader.AtEnd()) return std::nullopt;
  const int64_t offset = *hours * 3600 + *minutes * 60;
  return west ? -offset : offset;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<int64_t> LocalDays(DatetimeReader& reader) {
  const auto year = reader.Digits(4, 4);
  const bool dashes = reader.Accept('-');
  const auto month = reader.Digits(2, 2);
  if (dashes && !reader.Accept('-')) return std::nullopt;
  const auto day = reader.Digits(2, 2);
  if (!year || !month || !day) return std::nullopt;
  const date::year_month_day ymd = date::year(static_cast<int>(*year)) /
                                   static_cast<unsigned>(*month) / static_cast<unsigned>(*day);
  if (!ymd.ok()) return std::nullopt;
  return date::sys_days(ymd).time_since_epoch().count();
}

}  // namespace

bool IsTimeZone(std::string_view name) { return ZoneOf(name) != nullptr; }

std::optional<json::Datetime> ParseDatetime(std::string_view text, std::string_view zone) {
  DatetimeReader reader(Trimmed(text));
  const auto days = LocalDays(reader);
  if (!days) return std::nullopt;
  Clock clock;
  if (reader.Accept('T') ||
      (reader.Peek() == ' ' && reader.Rest().size() > 1 && reader.Rest()[1] >= '0' &&
       reader.Rest()[1] <= '9' && reader.Accept(' '))) {
    const auto read = ReadClock(reader);
    if (!read) return std::nullopt;
    clock = *read;
  }
  const int64_t local = *days * kDaySeconds + clock.seconds;
  const std::string_view named = Trimmed(reader.Rest());
  if (const auto offset = ReadOffset(named)) {
    return json::Datetime{(local - *offset) * kSecondUs + clock.us};
  }
  const date::time_zone* in = ZoneOf(named.empty() ? zone : named);
  if (in == nullptr) return std::nullopt;
  const date::local_seconds shown{std::chrono::seconds(local)};
  const int64_t seconds = in->to_sys(shown, date::choose::earliest).time_since_epoch().count();
  return json::Datetime{seconds * kSecondUs + clock.us};
}

std::string FormatDatetime(json::Datetime value, std::string_view zone, int digits) {
  int64_t seconds = value.us / kSecondUs;
  int64_t us = value.us % kSecondUs;
  if (us < 0) {
    --seconds;
    us += kSecondUs;
  }
  const date::time_zone* in = ZoneOf(zone);
  const date::sys_seconds at{std::chrono::seconds(seconds)};
  const int64_t local = seconds + (in == nullptr ? 0 : in->get_info(at).offset.count());
  const int64_t days = local / kDaySeconds - (local % kDaySeconds < 0 ? 1 : 0);
  const int64_t clock = local - days * kDaySeconds;
  const date::year_month_day ymd{date::sys_days(date::days(days))};
  const std::string fraction =
      digits == 3 ? fmt::format("{:03}", us / 1000) : fmt::format("{:06}", us);
  return fmt::format("{:04}-{:02}-{:02}T{:02}{:02}{:02}.{} {}", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
                     clock / 3600, clock / 60 % 60, clock % 60, fraction, zone);
}

std::optional<json::Interval> ParseIntervalYm(std::string_view text) {
  DatetimeReader reader(Trimmed(text));
  const bool negative = reader.Accept('-');
  const auto years = reader.Digits(1, 9);
  if (!years || !reader.Accept('-')) return std::nullopt;
  const auto months = reader.Digits(1, 2);
  if (!months || *months > 11 || !reader.AtEnd()) return std::nullopt;
  const int64_t amount = *years * 12 + *months;
  return json::Interval{json::Interval::Kind::kYearMonth, negative ? -amount : amount};
}

std::optional<json::Interval> ParseIntervalDs(std::string_view text) {
  DatetimeReader reader(Trimmed(text));
  const bool negative = reader.Accept('-');
  const auto days = reader.Digits(1, 8);
  if (!days || !reader.Accept(' ')) return std::nullopt;
  const auto hours = reader.Digits(1, 2);
  if (!reader.Accept(':')) return std::nullopt;
  const auto minutes = reader.Digits(1, 2);
  if (!reader.Accept(':')) return std::nullopt;
  const auto seconds = reader.Digits(1, 2);
  const auto us = reader.Fraction();
  if (!hours || !minutes || !seconds || !us || *hours > 23 || *minutes > 59 || *seconds > 59 ||
      !reader.AtEnd()) {
    return std::nullopt;
  }
  const int64_t amount =
      (*days * kDaySeconds + *hours * 3600 + *minutes * 60 + *seconds) * kSecondUs + *us;
  return json::Interval{json::Interval::Kind::kDaySecond, negative ? -amount : amount};
}

std::string FormatInterval(json::Interval value) {
  const bool negative = value.amount < 0;
  const auto amount =
      negative ? 0 - static_cast<uint64_t>(value.amount) : static_cast<uint64_t>(value.amount);
  const std::string_view sign = negative ? "-" : "";
  if (value.kind == json::Interval::Kind::kYearMonth) {
    return fmt::format("{}{}-{}", sign, amount / 12, amount % 12);
  }
  const uint64_t seconds = amount / kSecondUs;
  const uint64_t us = amount % kSecondUs;
  const std::string fraction =
      us % 1000 == 0 ? fmt::format("{:03}", us / 1000) : fmt::format("{:06}", us);
  return fmt::format("{}{} {:02}:{:02}:{:02}.{}", sign, seconds / kDaySeconds, seconds / 3600 % 24,
                     seconds / 60 % 60, seconds % 60, fraction);
}

}  // namespace sluice::db
