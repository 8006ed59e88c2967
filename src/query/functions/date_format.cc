// Printing dates, and finding the usual forms.
#include "query/functions/date_format.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "base/ascii.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

using Item = DateFormat::Item;
using Pad = DateFormat::Pad;

void AppendNumber(int64_t number, const Item& item, std::string* out) {
  auto to = std::back_inserter(*out);
  if (item.pad == Pad::kSpace) {
    fmt::format_to(to, "{:{}}", number, item.width);
  } else if (item.pad == Pad::kNone) {
    fmt::format_to(to, "{}", number);
  } else {
    fmt::format_to(to, "{:0{}}", number, item.width);
  }
}

void AppendName(std::string_view name, const Item& item, std::string* out) {
  if (item.letters == DateFormat::Letters::kAsIs) {
    *out += name;
  } else {
    *out += item.letters == DateFormat::Letters::kUpper ? ToUpperText(name) : ToLowerText(name);
  }
}

std::string_view OrdinalOf(int day) {
  if (day == 1 || day == 21 || day == 31) return "st";
  if (day == 2 || day == 22) return "nd";
  return day == 3 || day == 23 ? "rd" : "th";
}

void AppendOffset(int offset, const Item& item, std::string* out) {
  if (item.zulu && offset == 0) {
    *out += 'Z';
    return;
  }
  const int size = std::abs(offset), minutes = size / 60 % 60, seconds = size % 60;
  auto to = std::back_inserter(*out);
  fmt::format_to(to, "{}{:02}", offset < 0 ? '-' : '+', size / 3600);
  auto style = item.offset;
  if (style == DateFormat::Offset::kShortest) {
    style = seconds != 0   ? DateFormat::Offset::kSeconds
            : minutes != 0 ? DateFormat::Offset::kColon
                           : DateFormat::Offset::kHours;
  }
  const bool plain_seconds = style == DateFormat::Offset::kPlainSeconds;
  if (style == DateFormat::Offset::kPlain || plain_seconds) fmt::format_to(to, "{:02}", minutes);
  if (plain_seconds) fmt::format_to(to, "{:02}", seconds);
  if (style >= DateFormat::Offset::kColon) fmt::format_to(to, ":{:02}", minutes);
  if (style == DateFormat::Offset::kSeconds) fmt::format_to(to, ":{:02}", seconds);
}

void AppendFraction(int nanos, const Item& item, std::string* out) {
  std::string digits = fmt::format("{:09}", nanos).substr(0, item.width);
  if (item.kind == DateItem::kFraction) {
    *out += digits;
    return;
  }
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  if (!digits.empty()) out->append(1, item.literal).append(digits);
}

void AppendEpochClock(const Moment& moment, bool millis, std::string* out) {
  const int64_t seconds = std::max<int64_t>(moment.seconds, 0);
  auto to = std::back_inserter(*out);
  fmt::format_to(to, "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (millis) fmt::format_to(to, ".{:03}", moment.nanos / 1'000'000);
}

// The week of the year when weeks begin on the weekday `begin`; days before the first are in week
// 0.
int WeekOfYear(const Civil& civil, int begin) {
  const int days_into_week = (WeekdayOf(civil) - begin + 7) % 7;
  return (YearDayOf(civil) - 1 + 7 - days_into_week) / 7;
}

int64_t NumberOfItem(DateItem kind, const Moment& moment, const Civil& civil) {
  switch (kind) {
    case DateItem::kYear:
      return civil.year;
    case DateItem::kCentury:
      return civil.year / 100;
    case DateItem::kYearOfCentury:
      return civil.year % 100;
    case DateItem::kMonth:
      return civil.month;
    case DateItem::kDay:
      return civil.day;
    case DateItem::kDayOfYear:
      return YearDayOf(civil);
    case DateItem::kHour:
      return civil.hour;
    case DateItem::kHour12:
      return (civil.hour + 11) % 12 + 1;
    case DateItem::kMinute:
      return civil.minute;
    case DateItem::kSecond:
      return civil.second;
    case DateItem::kNanos:
      return civil.nanos;
    case DateItem::kMillis:
      return std::min((civil.nanos + 500'000) / 1'000'000, 999);
    case DateItem::kEpochSeconds:
      return moment.seconds;
    case DateItem::kIsoWeek:
      return IsoWeekOf(civil).week;
    case DateItem::kIsoYear:
      return IsoWeekOf(civil).year;
    case DateItem::kQuarter:
      return (civil.month + 2) / 3;
    case DateItem::kWeekday:
      return WeekdayOf(civil);
    case DateItem::kIsoWeekday:
      return (WeekdayOf(civil) + 6) % 7 + 1;
    case DateItem::kSundayWeek:
      return WeekOfYear(civil, 0);
    case DateItem::kMondayWeek:
      return WeekOfYear(civil, 1);
    default:
      return 0;
  }
}

void AppendItem(const Item& item, const Moment& moment, const Civil& civil, std::string* out) {
  switch (item.kind) {
    case DateItem::kLiteral:
    case DateItem::kBlank:
      *out += item.literal;
      return;
    case DateItem::kMonthName:
      return AppendName(MonthName(civil.month), item, out);
    case DateItem::kShortMonthName:
      return AppendName(MonthName(civil.month).substr(0, 3), item, out);
    case DateItem::kWeekdayName:
      return AppendName(WeekdayName(WeekdayOf(civil)), item, out);
    case DateItem::kShortWeekdayName:
      return AppendName(WeekdayName(WeekdayOf(civil)).substr(0, 3), item, out);
    case DateItem::kOrdinal:
      return AppendName(OrdinalOf(civil.day), item, out);
    case DateItem::kHalfDay:
      return AppendName(civil.hour < 12 ? "AM" : "PM", item, out);
    case DateItem::kFraction:
    case DateItem::kTrimmedFraction:
      return AppendFraction(civil.nanos, item, out);
    case DateItem::kZoneOffset:
      return AppendOffset(civil.offset, item, out);
    case DateItem::kZoneAbbreviation:
      *out += item.zulu && civil.offset == 0 ? "Z" : ZoneAbbreviation(moment);
      return;
    case DateItem::kZoneName:
      *out += ZoneName(moment);
      return;
    case DateItem::kEpochNanos:
      fmt::format_to(std::back_inserter(*out), "{}{:09}", moment.seconds, moment.nanos);
      return;
    case DateItem::kEpochClock:
    case DateItem::kEpochClockMillis:
      return AppendEpochClock(moment, item.kind == DateItem::kEpochClockMillis, out);
    default:
      AppendNumber(NumberOfItem(item.kind, moment, civil), item, out);
  }
}

// Whether the text has the shape: 0 stands for a digit.
bool HasShape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) return false;
  return std::ranges::equal(text, shape,
                            [](char c, char s) { return s == '0' ? IsDigit(c) : c == s; });
}

Item Literal(char c) { return {.kind = DateItem::kLiteral, .literal = c}; }
Item Number(DateItem kind, uint8_t width) { return {.kind = kind, .width = width}; }

// The zone at the end of a date in one of the usual forms: Z, +hh:mm, +hhmm, +hh.
std::optional<Item> DetectZone(std::string_view zone) {
  Item item{.kind = DateItem::kZoneOffset, .zulu = true};
  if (zone == "Z") return item;
  if (zone.empty() || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  zone.remove_prefix(1);
  if (HasShape(zone, "00:00")) return item;
  item.offset = DateFormat::Offset::kPlain;
  if (HasShape(zone, "0000")) return item;
  item.offset = DateFormat::Offset::kHours;
  if (HasShape(zone, "00")) return item;
  return std::nullopt;
}

// hh:mm[:ss[.fraction][zone]], the hour perhaps with one digit
bool DetectTime(std::string_view time, std::vector<Item>* items) {
  const size_t colon = time.find(':');
  if (colon != 1 && colon != 2) return false;
  if (!HasShape(time.substr(0, colon), std::string_view("00").substr(0, colon))) return false;
  if (!HasShape(time.substr(colon, 3), ":00")) return false;
  Item hour = Number(DateItem::kHour, 2);
  hour.pad = Pad::kLoose;
  items->insert(items->end(), {hour, Literal(':'), Number(DateItem::kMinute, 2)});
  time.remove_prefix(colon + 3);
  if (time.empty()) return true;
  if (!HasShape(time.substr(0, 3), ":00")) return false;
  items->insert(items->end(), {Literal(':'), Number(DateItem::kSecond, 2)});
  time.remove_prefix(3);
  if (time.starts_with('.')) {
    const auto* end = std::ranges::find_if_not(time.substr(1), IsDigit);
    const auto digits = static_cast<size_t>(end - time.data() - 1);
    if (digits == 0 || digits > 9) return false;
    if (digits <= 3) {
      items->push_back({.kind = DateItem::kTrimmedFraction, .literal = '.', .width = 3});
    } else {
      items->insert(items->end(), {Literal('.'), Number(DateItem::kFraction, digits <= 6 ? 6 : 9)});
    }
    time.remove_prefix(1 + digits);
  }
  if (time.empty()) return true;
  if (time.starts_with(' ')) {
    items->push_back(Literal(' '));
    time.remove_prefix(1);
  }
  const auto zone = DetectZone(time);
  if (zone) items->push_back(*zone);
  return zone.has_value();
}

}  // namespace

std::optional<DateFormat> DateFormat::Detect(std::string_view date) {
  DateFormat format;
  std::vector<Item>& items = format.items_;
  items.reserve(16);
  if (date.size() >= 10 && HasShape(date.substr(0, 4), "0000")) {
    const char separator = date[4];
    if (separator != '-' && separator != '/' && separator != '.') return std::nullopt;
    const char rest[] = {'0', '0', separator, '0', '0'};
    if (!HasShape(date.substr(5, 5), {rest, sizeof rest})) return std::nullopt;
    items.insert(items.end(),
                 {Number(DateItem::kYear, 4), Literal(separator), Number(DateItem::kMonth, 2),
                  Literal(separator), Number(DateItem::kDay, 2)});
    date.remove_prefix(10);
    if (date.empty()) return format;
    if (date[0] != 'T' && date[0] != ' ') return std::nullopt;
    items.push_back(Literal(date[0]));
    date.remove_prefix(1);
  }
  if (!DetectTime(date, &items)) return std::nullopt;
  return format;
}

const DateFormat& DateFormat::Default() {
  static const DateFormat format = *Detect("1111-11-11T11:11:11.111Z");
  return format;
}

std::string DateFormat::Print(const Moment& moment) const {
  const Civil civil = CivilOf(moment);
  std::string out;
  for (const Item& item : items_) AppendItem(item, moment, civil, &out);
  return out;
}

std::optional<std::string> PrintDate(const Moment& moment, std::string_view format) {
  const auto read = DateFormat::Read(format);
  if (!read) return std::nullopt;
  return read->Print(moment);
}

}  // namespace sluice::query
