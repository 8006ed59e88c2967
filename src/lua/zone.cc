#include "lua/zone.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <date/tz.h>
#include <fmt/format.h>

namespace sluice::lua {
namespace {

using std::chrono::microseconds;
using Instant = date::sys_time<microseconds>;
using Local = date::local_time<microseconds>;

constexpr int64_t kMinYear = 0;
constexpr int64_t kMaxYear = 9999;
constexpr int64_t kFirstUs = -62'167'219'200'000'000;  // 0000-01-01
constexpr int64_t kLastUs = 253'402'300'799'999'999;   // the end of 9999

// Reads digits, and only digits.
class ZoneTextReader {
 public:
  explicit ZoneTextReader(std::string_view text) : text_(text) {}

  bool Number(size_t digits, int64_t* value) {
    if (text_.size() < digits) return false;
    const char* const end = text_.data() + digits;
    const auto [stop, error] = std::from_chars(text_.data(), end, *value);
    if (error != std::errc() || stop != end || text_[0] == '-') return false;
    text_.remove_prefix(digits);
    return true;
  }
  bool Accept(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Up to six digits, as microseconds.
  bool Fraction(int64_t* usec) {
    size_t digits = 0;
    int64_t value = 0;
    while (digits < 6 && digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9') {
      value = value * 10 + (text_[digits++] - '0');
    }
    if (digits == 0) return false;
    text_.remove_prefix(digits);
    for (; digits < 6; ++digits) value *= 10;
    *usec = value;
    return true;
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

bool ReadTime(ZoneTextReader* reader, DatetimeFields* fields) {
  if (!reader->Number(2, &fields->hour)) return false;
  const bool colons = reader->Accept(':');
  if (!reader->Number(2, &fields->min)) return false;
  if (colons && !reader->Accept(':')) return true;
  if (!reader->Number(2, &fields->sec)) return false;
  return !reader->Accept('.') || reader->Fraction(&fields->usec);
}

}  // namespace

std::string Zone::name() const { return zone == nullptr ? "UTC" : zone->name(); }

std::optional<Zone> Zone::Named(std::string_view name) {
  if (name == "UTC" || name == "Z" || name == "GMT") return Zone{};
  try {
    return Zone{date::locate_zone(std::string(name))};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

DatetimeFields FieldsOf(json::Datetime datetime, const Zone& zone) {
  const Instant instant{microseconds(std::clamp(datetime.us, kFirstUs, kLastUs))};
  DatetimeFields fields;
  Local local{instant.time_since_epoch()};
  if (zone.zone != nullptr) {
    const date::sys_info info = zone.zone->get_info(date::floor<std::chrono::seconds>(instant));
    local = Local{instant.time_since_epoch() + info.offset};
    fields.isdst = info.save != std::chrono::minutes(0);
  }
  const auto day = date::floor<date::days>(local);
  const date::year_month_day ymd(day);
  const date::hh_mm_ss time(local - day);
  fields.year = static_cast<int>(ymd.year());
  fields.month = static_cast<unsigned>(ymd.month());
  fields.day = static_cast<unsigned>(ymd.day());
  fields.yday = (day - date::local_days(ymd.year() / 1 / 1)).count() + 1;
  fields.wday = static_cast<int64_t>(date::weekday(day).c_encoding()) + 1;
  fields.hour = time.hours().count();
  fields.min = time.minutes().count();
  fields.sec = time.seconds().count();
  fields.usec = time.subseconds().count();
  return fields;
}

std::optional<json::Datetime> DatetimeOf(const DatetimeFields& fields, const Zone& zone) {
  if (fields.year < kMinYear || fields.year > kMaxYear || fields.hour < 0 || fields.hour > 23 ||
      fields.min < 0 || fields.min > 59 || fields.sec < 0 || fields.sec > 59 || fields.usec < 0 ||
      fields.usec > 999'999 || fields.month < 1 || fields.month > 12 || fields.day < 1 ||
      fields.day > 31) {
    return std::nullopt;
  }
  const date::year_month_day ymd(date::year(static_cast<int>(fields.year)),
                                 date::month(static_cast<unsigned>(fields.month)),
                                 date::day(static_cast<unsigned>(fields.day)));
  if (!ymd.ok()) return std::nullopt;
  const Local local = Local(date::local_days(ymd)) + std::chrono::hours(fields.hour) +
                      std::chrono::minutes(fields.min) + std::chrono::seconds(fields.sec) +
                      microseconds(fields.usec);
  if (zone.zone == nullptr) return json::Datetime{local.time_since_epoch().count()};
  return json::Datetime{
      zone.zone->to_sys(local, date::choose::earliest).time_since_epoch().count()};
}

std::string DatetimeText(json::Datetime datetime, const Zone& zone, int digits) {
  const DatetimeFields fields = FieldsOf(datetime, zone);
  const std::string fraction =
      digits == 6 ? fmt::format("{:06}", fields.usec) : fmt::format("{:03}", fields.usec / 1000);
  return fmt::format("{:04}-{:02}-{:02}T{:02}{:02}{:02}.{} {}", fields.year, fields.month,
                     fields.day, fields.hour, fields.min, fields.sec, fraction, zone.name());
}

std::optional<json::Datetime> ParseDatetime(std::string_view text, const Zone& zone) {
  ZoneTextReader reader(text);
  DatetimeFields fields;
  const bool date = reader.Number(4, &fields.year) && reader.Accept('-') &&
                    reader.Number(2, &fields.month) && reader.Accept('-') &&
                    reader.Number(2, &fields.day);
  if (!date) return std::nullopt;
  const bool time = reader.Accept('T') ||
                    (reader.rest().size() > 1 && reader.rest()[1] <= '9' && reader.Accept(' '));
  if (time && !ReadTime(&reader, &fields)) return std::nullopt;
  reader.Accept(' ');
  if (reader.rest().empty()) return DatetimeOf(fields, zone);
  const std::optional<Zone> named = Zone::Named(reader.rest());
  return named ? DatetimeOf(fields, *named) : std::nullopt;
}

}  // namespace sluice::lua
