// Formats of dates as text. Four ways to write one are understood; each becomes the same list of
// items, which prints and parses:
//
//   "%Y-%m-%d %H:%M:%S"          as the command `date` has them
//   "YYYY-MM-DD hh:mm:ss.sTZD"   letters for the parts
//   "2006-01-02 15:04:05.000"    one certain moment, written as wanted
//   "1111-11-11T11:11:11Z"       any date in one of the usual forms
//
// An empty format means the usual forms when parsing, and 2006-01-02T15:04:05.999Z07:00 when
// printing. The usual forms: a date (YYYY-MM-DD, also with / or .), a time (hh:mm[:ss[.fraction]])
// with or without a zone (Z, +hh:mm, +hhmm, +hh), or both with T or a blank between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/functions/date_time.h"

namespace sluice::query {

enum class DateItem : uint8_t {
  kLiteral,
  kBlank,  // prints a blank, parses any character
  kYear,
  kCentury,
  kYearOfCentury,
  kMonth,
  kMonthName,
  kShortMonthName,
  kDay,
  kOrdinal,  // st, nd, rd, th
  kDayOfYear,
  kWeekdayName,
  kShortWeekdayName,
  kHour,
  kHour12,
  kHalfDay,  // AM, PM
  kMinute,
  kSecond,
  kFraction,         // of a second, as many digits as its width
  kTrimmedFraction,  // the same with its point, without zeros at the end
  kNanos,
  kMillis,
  kEpochSeconds,
  kEpochNanos,
  kZoneOffset,
  kZoneAbbreviation,
  kZoneName,
  kIsoWeek,
  kIsoYear,
  kQuarter,
  kWeekday,     // 0 is Sunday
  kIsoWeekday,  // 1 is Monday
  kSundayWeek,  // of the year, the first Sunday begins week 1
  kMondayWeek,
  kEpochClock,        // hours:minutes:seconds since 1970
  kEpochClockMillis,  // with milliseconds
};

class DateFormat {
 public:
  // Printed numbers are filled up to their width with zeros or blanks (kLoose: with zeros). Parsing
  // takes exactly that many characters with kZero, else up to as many.
  enum class Pad : uint8_t { kZero, kSpace, kNone, kLoose };
  enum class Letters : uint8_t { kAsIs, kUpper, kLower };
  enum class Offset : uint8_t { kHours, kPlain, kPlainSeconds, kColon, kSeconds, kShortest };

  struct Item {
    DateItem kind = DateItem::kLiteral;
    char literal = 0;
    Pad pad = Pad::kZero;
    uint8_t width = 0;
    Letters letters = Letters::kAsIs;
    Offset offset = Offset::kColon;
    bool zulu = false;      // an offset of zero is Z
    bool any_case = false;  // when parsing names
  };

  // Nothing when the text is no format.
  static std::optional<DateFormat> Read(std::string_view text);
  // The format of a date in one of the usual forms.
  static std::optional<DateFormat> Detect(std::string_view date);
  static const DateFormat& Default();

  std::string Print(const Moment& moment) const;
  // Nullopt if the text does not match the format or the date does not exist. Dates without a zone
  // are in `local`. Parts that the format does not have are those of the beginning of the year 0.
  std::optional<Moment> Parse(std::string_view text, Zone local) const;

 private:
  static std::optional<DateFormat> ReadPercent(std::string_view text);
  static DateFormat ReadLetters(std::string_view text);
  static DateFormat ReadReference(std::string_view text);

  std::vector<Item> items_;
};

// A date in one of the usual forms or, if it is not blank, in the given format.
std::optional<Moment> ParseDate(std::string_view date, std::string_view format, Zone local);
std::optional<std::string> PrintDate(const Moment& moment, std::string_view format);

}  // namespace sluice::query
