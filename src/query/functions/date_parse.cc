// Parsing dates by the items of a format.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "query/functions/date_format.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

using Item = DateFormat::Item;
using Pad = DateFormat::Pad;

// What has been read so far.
struct Fields {
  std::optional<int> century, year_of_century, month, day, day_of_year;
  int hour = 0, minute = 0, second = 0, nanos = 0;
  bool half_days = false, afternoon = false;
  std::optional<Zone> zone;
  std::optional<int64_t> epoch;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  // Each takes what the item stands for off the text; false when it is not there.
  bool Take(const Item& item);
  std::optional<Moment> Finish(Zone local) const;

 private:
  bool TakeChar(char c);
  bool TakeNumber(const Item& item, int64_t low, int64_t high, int64_t* number);
  bool TakeInt(const Item& item, int low, int high, int* number);
  bool TakeInt(const Item& item, int low, int high, std::optional<int>* number);
  bool TakeName(std::string_view name, const Item& item);
  bool TakeMonthName(const Item& item);
  bool TakeWeekdayName(const Item& item);
  bool TakeHalfDay(const Item& item);
  bool TakeFraction();
  bool TakeOptionalFraction(char point);
  bool TakeYear(const Item& item);
  bool TakeHour(const Item& item);
  bool TakeOrdinal();
  bool TakeZone(const Item& item);
  bool TakeOffset();
  bool HasTwoDigits() const { return text_.size() >= 2 && IsDigit(text_[0]) && IsDigit(text_[1]); }

  std::string_view text_;
  Fields fields_;
};

bool Reader::TakeChar(char c) {
  if (!text_.starts_with(c)) return false;
  text_.remove_prefix(1);
  return true;
}

bool Reader::TakeNumber(const Item& item, int64_t low, int64_t high, int64_t* number) {
  size_t start = 0;
  if (item.pad == Pad::kSpace) {
    while (start < item.width && start < text_.size() && text_[start] == ' ') ++start;
  }
  size_t end = start;
  while (end < item.width && end < text_.size() && IsDigit(text_[end])) ++end;
  if (end == start || (item.pad == Pad::kZero && end != item.width)) return false;
  std::from_chars(text_.data() + start, text_.data() + end, *number);
  text_.remove_prefix(end);
  return *number >= low && *number <= high;
}

bool Reader::TakeInt(const Item& item, int low, int high, int* number) {
  int64_t wide = 0;
  if (!TakeNumber(item, low, high, &wide)) return false;
  *number = static_cast<int>(wide);
  return true;
}

bool Reader::TakeInt(const Item& item, int low, int high, std::optional<int>* number) {
  return TakeInt(item, low, high, &number->emplace(0));
}

bool Reader::TakeName(std::string_view name, const Item& item) {
  const std::string_view found = text_.substr(0, name.size());
  const bool any_case = item.any_case || item.letters != DateFormat::Letters::kAsIs;
  if (any_case ? ToLowerAscii(found) != ToLowerAscii(name) : found != name) return false;
  text_.remove_prefix(name.size());
  return true;
}

bool Reader::TakeMonthName(const Item& item) {
  for (int month = 1; month <= 12; ++month) {
    const size_t size = item.kind == DateItem::kShortMonthName ? 3 : std::string_view::npos;
    if (!TakeName(MonthName(month).substr(0, size), item)) continue;
    fields_.month = month;
    return true;
  }
  return false;
}

// Days of the week are read but do not decide anything.
bool Reader::TakeWeekdayName(const Item& item) {
  const size_t size = item.kind == DateItem::kShortWeekdayName ? 3 : std::string_view::npos;
  for (int weekday = 0; weekday < 7; ++weekday) {
    if (TakeName(WeekdayName(weekday).substr(0, size), item)) return true;
  }
  return false;
}

bool Reader::TakeHalfDay(const Item& item) {
  const bool lower = item.letters == DateFormat::Letters::kLower;
  Item exact = item;
  exact.letters = DateFormat::Letters::kAsIs;
  fields_.afternoon = TakeName(lower ? "pm" : "PM", exact);
  return fields_.afternoon || TakeName(lower ? "am" : "AM", exact);
}

bool Reader::TakeFraction() {
  const auto digits = static_cast<size_t>(std::ranges::find_if_not(text_, IsDigit) - text_.begin());
  if (digits == 0) return false;
  constexpr size_t kKept = 9;
  std::from_chars(text_.data(), text_.data() + std::min(digits, kKept), fields_.nanos);
  for (size_t i = digits; i < kKept; ++i) fields_.nanos *= 10;
  text_.remove_prefix(digits);
  return true;
}

bool Reader::TakeOptionalFraction(char point) {
  if (text_.size() < 2 || text_[0] != point || !IsDigit(text_[1])) return true;
  text_.remove_prefix(1);
  return TakeFraction();
}

bool Reader::TakeYear(const Item& item) {
  int year = 0;
  if (!TakeInt(item, 0, kMaxYear, &year)) return false;
  fields_.century = year / 100;
  fields_.year_of_century = year % 100;
  return true;
}

bool Reader::TakeHour(const Item& item) {
  fields_.half_days = item.kind == DateItem::kHour12;
  return fields_.half_days ? TakeInt(item, 1, 12, &fields_.hour)
                           : TakeInt(item, 0, 23, &fields_.hour);
}

// May be left out.
bool Reader::TakeOrdinal() {
  const std::string suffix = ToLowerAscii(text_.substr(0, 2));
  if (suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th") text_.remove_prefix(2);
  return true;
}

// +hh, +hhmm, +hhmmss, +hh:mm, +hh:mm:ss
bool Reader::TakeOffset() {
  const int sign = text_[0] == '-' ? -1 : 1;
  const Item two{.kind = DateItem::kMinute, .width = 2};
  text_.remove_prefix(1);
  int hours = 0, minutes = 0, seconds = 0;
  if (!TakeInt(two, 0, 24, &hours)) return false;
  if (TakeChar(':')) {
    if (!TakeInt(two, 0, 59, &minutes)) return false;
    if (TakeChar(':') && !TakeInt(two, 0, 59, &seconds)) return false;
  } else if (HasTwoDigits()) {
    if (!TakeInt(two, 0, 59, &minutes)) return false;
    if (HasTwoDigits() && !TakeInt(two, 0, 59, &seconds)) return false;
  }
  fields_.zone = Zone{.offset = sign * (hours * 3600 + minutes * 60 + seconds)};
  return true;
}

// An abbreviation says no offset unless it is a zone's name: then the date is taken as UTC's.
bool IsAbbreviation(std::string_view name) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return name.size() >= 3 && name.size() <= 5 && std::ranges::all_of(name, is_capital);
}

bool Reader::TakeZone(const Item& item) {
  if (text_.empty()) return false;
  if (text_[0] == '+' || text_[0] == '-') return TakeOffset();
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '_' || c == '+' ||
           c == '-';
  };
  const auto size = static_cast<size_t>(std::ranges::find_if_not(text_, is_name) - text_.begin());
  const std::string_view name = text_.substr(0, size);
  if (name.empty()) return false;
  fields_.zone = name == "Z" ? Zone{} : FindZone(name);
  if (!fields_.zone && item.kind == DateItem::kZoneAbbreviation && IsAbbreviation(name)) {
    fields_.zone = Zone{};
  }
  text_.remove_prefix(size);
  return fields_.zone.has_value();
}

bool Reader::Take(const Item& item) {
  switch (item.kind) {
    case DateItem::kLiteral:
      return TakeChar(item.literal);
    case DateItem::kBlank:
      if (text_.empty()) return false;
      text_.remove_prefix(1);
      return true;
    case DateItem::kYear:
      return TakeYear(item);
    case DateItem::kCentury:
      return TakeInt(item, 0, 99, &fields_.century);
    case DateItem::kYearOfCentury:
      return TakeInt(item, 0, 99, &fields_.year_of_century);
    case DateItem::kMonth:
      return TakeInt(item, 1, 12, &fields_.month);
    case DateItem::kMonthName:
    case DateItem::kShortMonthName:
      return TakeMonthName(item);
    case DateItem::kDay:
      return TakeInt(item, 1, 31, &fields_.day);
    case DateItem::kDayOfYear:
      return TakeInt({.pad = item.pad == Pad::kSpace ? Pad::kSpace : Pad::kNone, .width = 3}, 1,
                     366, &fields_.day_of_year);
    case DateItem::kWeekdayName:
    case DateItem::kShortWeekdayName:
      return TakeWeekdayName(item);
    case DateItem::kOrdinal:
      return TakeOrdinal();
    case DateItem::kHour:
    case DateItem::kHour12:
      return TakeHour(item);
    case DateItem::kHalfDay:
      return TakeHalfDay(item);
    case DateItem::kMinute:
      return TakeInt(item, 0, 59, &fields_.minute);
    case DateItem::kSecond:
      return TakeInt(item, 0, 59, &fields_.second);
    case DateItem::kFraction:
    case DateItem::kNanos:
    case DateItem::kMillis:
      return TakeFraction();
    case DateItem::kTrimmedFraction:
      return TakeOptionalFraction(item.literal);
    case DateItem::kZoneOffset:
    case DateItem::kZoneAbbreviation:
    case DateItem::kZoneName:
      return TakeZone(item);
    case DateItem::kEpochSeconds:
      return TakeNumber({.pad = Pad::kNone, .width = 12}, 0, 253'402'300'799,
                        &fields_.epoch.emplace(0));
    default:
      return false;  // it does not say which day it is
  }
}

std::optional<Moment> Reader::Finish(Zone local) const {
  const Zone zone = fields_.zone.value_or(local);
  if (fields_.epoch) return Moment{.seconds = *fields_.epoch, .nanos = fields_.nanos, .zone = zone};
  Civil civil{.hour = fields_.hour,
              .minute = fields_.minute,
              .second = fields_.second,
              .nanos = fields_.nanos};
  if (fields_.century) {
    civil.year = *fields_.century * 100 + fields_.year_of_century.value_or(0);
  } else if (fields_.year_of_century) {
    civil.year = *fields_.year_of_century + (*fields_.year_of_century >= 69 ? 1900 : 2000);
  }
  if (fields_.day_of_year && !fields_.month && !fields_.day) {
    civil.day = *fields_.day_of_year;
    if (civil.day > YearDayOf({.year = civil.year, .month = 12, .day = 31})) return std::nullopt;
  } else {
    civil.month = fields_.month.value_or(1);
    civil.day = fields_.day.value_or(1);
    if (civil.day > DaysInMonth(civil.year, civil.month)) return std::nullopt;
  }
  if (fields_.half_days) civil.hour = civil.hour % 12 + (fields_.afternoon ? 12 : 0);
  return MomentOf(civil, zone);
}

}  // namespace

std::optional<Moment> DateFormat::Parse(std::string_view text, Zone local) const {
  Reader reader(text);
  for (const Item& item : items_) {
    if (!reader.Take(item)) return std::nullopt;
  }
  if (!reader.done()) return std::nullopt;
  return reader.Finish(local);
}

std::optional<Moment> ParseDate(std::string_view date, std::string_view format, Zone local) {
  const bool blank = format.find_first_not_of(" \t\r\n") == format.npos;
  const auto read = blank ? DateFormat::Detect(date) : DateFormat::Read(format);
  if (!read) return std::nullopt;
  return read->Parse(date, local);
}

}  // namespace sluice::query
