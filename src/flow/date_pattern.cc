// The only file here that uses the time zone library, and so the only one that catches its
// exceptions.
#include "flow/date_pattern.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>

#include <date/tz.h>

#include "flow/text_form.h"
#include "json/temporal.h"

namespace sluice::flow {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
constexpr int64_t kDayMs = 86'400'000;
// Years 0001 to 9999.
constexpr int64_t kLeastMs = -62'135'596'800'000;
constexpr int64_t kMostMs = 253'402'300'799'999;

// The machine's zone when the name is empty.
Result<const date::time_zone*> ZoneNamed(const std::string& name) {
  try {
    return name.empty() ? date::current_zone() : date::locate_zone(name);
  } catch (const std::exception&) {
    return Fail(Code::kInvalidArgument, "flow.bad_argument", "there is no time zone '{}'", name);
  }
}

struct Moment {
  int year = 1970;
  int month = 1;
  int day = 1;
  int weekday = 4;
  int64_t ms_of_day = 0;
  int64_t offset_s = 0;
  std::string zone;
};

Result<Moment> MomentIn(int64_t unix_ms, const std::string& zone_name) {
  if (unix_ms < kLeastMs || unix_ms > kMostMs) {
    return Fail(Code::kInvalidArgument, "flow.bad_argument", "a time is out of range");
  }
  ASSIGN_OR_RETURN(const date::time_zone* zone, ZoneNamed(zone_name));
  const date::sys_time<milliseconds> time{milliseconds(unix_ms)};
  Moment moment;
  try {
    moment.offset_s = zone->get_info(time).offset.count();
    moment.zone = zone->name();
  } catch (const std::exception& error) {
    return Fail(Code::kInvalidArgument, "flow.bad_argument", "time zone '{}': {}", zone_name,
                error.what());
  }
  const date::sys_time<milliseconds> shifted{milliseconds(unix_ms + moment.offset_s * 1000)};
  const auto day = date::floor<date::days>(shifted);
  const date::year_month_day ymd{day};
  moment.year = static_cast<int>(ymd.year());
  moment.month = static_cast<int>(static_cast<unsigned>(ymd.month()));
  moment.day = static_cast<int>(static_cast<unsigned>(ymd.day()));
  moment.weekday = static_cast<int>(date::weekday{day}.c_encoding());
  moment.ms_of_day = (shifted - day).count();
  return moment;
}

std::string OffsetText(int64_t offset_s, bool colon, bool letter_for_zero) {
  if (offset_s == 0 && letter_for_zero) return "Z";
  const int64_t minutes = std::abs(offset_s) / 60;
  return fmt::format("{}{:02}{}{:02}", offset_s < 0 ? '-' : '+', minutes / 60, colon ? ":" : "",
                     minutes % 60);
}

int64_t HourOf12(int64_t hour) { return hour % 12 == 0 ? 12 : hour % 12; }

std::string Fraction(int64_t ms, int count) {
  std::string digits = fmt::format("{:03}", ms);
  digits.resize(static_cast<size_t>(count), '0');
  return digits;
}

std::string PartText(char letter, int count, const Moment& moment) {
  const int64_t ms = moment.ms_of_day;
  switch (letter) {
    case 'y':
    case 'u':
      return count == 2 ? fmt::format("{:02}", moment.year % 100)
                        : fmt::format("{:0{}}", moment.year, count);
    case 'M': {
      const std::string_view name = kMonths[moment.month - 1];
      if (count == 3) return std::string(name.substr(0, 3));
      return count > 3 ? std::string(name) : fmt::format("{:0{}}", moment.month, count);
    }
    case 'd':
      return fmt::format("{:0{}}", moment.day, count);
    case 'E':
      return std::string(kDays[moment.weekday].substr(0, count > 3 ? 9 : 3));
    case 'H':
      return fmt::format("{:0{}}", ms / 3'600'000, count);
    case 'h':
      return fmt::format("{:0{}}", HourOf12(ms / 3'600'000), count);
    case 'm':
      return fmt::format("{:0{}}", ms / 60'000 % 60, count);
    case 's':
      return fmt::format("{:0{}}", ms / 1000 % 60, count);
    case 'S':
      return Fraction(ms % 1000, count);
    case 'a':
      return ms >= kDayMs / 2 ? "PM" : "AM";
    case 'X':
      return OffsetText(moment.offset_s, count >= 3, true);
    case 'Z':
      return OffsetText(moment.offset_s, false, false);
    default:  // 'V'
      return moment.zone;
  }
}

// The parts that were read from a text so far.
struct Told {
  int year = 1970;
  int month = 1;
  int day = 1;
  int64_t hour = 0;
  bool half_day = false;  // a 12-hour clock
  bool afternoon = false;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t ms = 0;
  std::optional<int64_t> offset_s;
  std::string zone;
};

// Reads parts off the front of a text.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }

  bool Skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  // Exactly `count` digits, or all digits if `count` is 1.
  bool Number(int count, int64_t* out) { return Digits(count, count == 1 ? 9 : count, out); }

  bool Digits(int least_digits, int most_digits, int64_t* out) {
    size_t size = 0;
    const auto least = static_cast<size_t>(least_digits);
    const auto most = static_cast<size_t>(most_digits);
    while (size < most && size < rest_.size() && rest_[size] >= '0' && rest_[size] <= '9') ++size;
    if (size < least) return false;
    std::from_chars(rest_.data(), rest_.data() + size, *out);
    rest_.remove_prefix(size);
    return true;
  }

  template <size_t n>
  bool Name(const std::string_view (&names)[n], bool whole, int* index) {
    for (size_t i = 0; i < n; ++i) {
      const std::string_view name = whole ? names[i] : names[i].substr(0, 3);
      if (!EqualsIgnoringCase(rest_.substr(0, name.size()), name)) continue;
      rest_.remove_prefix(name.size());
      *index = static_cast<int>(i);
      return true;
    }
    return false;
  }

  bool Offset(std::optional<int64_t>* out) {
    if (Skip("Z")) {
      *out = 0;
      return true;
    }
    const bool minus = Skip("-");
    if (!minus && !Skip("+")) return false;
    int64_t hours = 0;
    int64_t minutes = 0;
    if (!Number(2, &hours)) return false;
    Skip(":");
    if (!rest_.empty() && !Number(2, &minutes)) return false;
    *out = (hours * 3600 + minutes * 60) * (minus ? -1 : 1);
    return true;
  }

  bool ZoneName(std::string* out) {
    const size_t end = std::min(rest_.find_first_of(" ]"), rest_.size());
    *out = std::string(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return !out->empty();
  }

 private:
  std::string_view rest_;
};

bool ReadNumber(TextReader* reader, int count, int* out) {
  int64_t number = 0;
  if (!reader->Number(count, &number)) return false;
  *out = static_cast<int>(number);
  return true;
}

bool ReadMonth(TextReader* reader, int count, int* month) {
  if (count < 3) return ReadNumber(reader, count, month);
  if (!reader->Name(kMonths, count > 3, month)) return false;
  ++*month;
  return true;
}

bool ReadYear(TextReader* reader, int count, int* year) {
  if (!ReadNumber(reader, count, year)) return false;
  if (count == 2) *year += 2000;
  return true;
}

bool ReadPart(TextReader* reader, char letter, int count, Told* told) {
  int ignored = 0;
  switch (letter) {
    case 'y':
    case 'u':
      return ReadYear(reader, count, &told->year);
    case 'M':
      return ReadMonth(reader, count, &told->month);
    case 'd':
      return ReadNumber(reader, count, &told->day);
    case 'E':
      return reader->Name(kDays, count > 3, &ignored);
    case 'h':
      told->half_day = true;
      return reader->Number(count, &told->hour);
    case 'H':
      return reader->Number(count, &told->hour);
    case 'm':
      return reader->Number(count, &told->minute);
    case 's':
      return reader->Number(count, &told->second);
    case 'S': {
      if (!reader->Digits(count, count, &told->ms)) return false;
      for (int i = count; i < 3; ++i) told->ms *= 10;
      for (int i = 3; i < count; ++i) told->ms /= 10;
      return true;
    }
    case 'a':
      told->afternoon = reader->Skip("PM") || reader->Skip("pm");
      return told->afternoon || reader->Skip("AM") || reader->Skip("am");
    case 'V':
      return reader->ZoneName(&told->zone);
    default:  // 'X', 'Z'
      return reader->Offset(&told->offset_s);
  }
}

std::unexpected<Status> BadDate(std::string_view text) {
  return Fail(Code::kInvalidArgument, "flow.bad_argument",
              "'{}' is not a date of the given pattern", text);
}

Result<int64_t> MomentOf(const Told& told, std::string_view text) {
  int64_t hour = told.hour;
  if (told.half_day) hour = hour % 12 + (told.afternoon ? 12 : 0);
  const date::year_month_day ymd{date::year(told.year),
                                 date::month(static_cast<unsigned>(told.month)),
                                 date::day(static_cast<unsigned>(told.day))};
  if (!ymd.ok() || hour > 23 || told.minute > 59 || told.second > 59 || told.year > 9999) {
    return BadDate(text);
  }
  const int64_t local_ms = date::sys_days(ymd).time_since_epoch().count() * kDayMs +
                           ((hour * 60 + told.minute) * 60 + told.second) * 1000 + told.ms;
  if (told.offset_s) return local_ms - *told.offset_s * 1000;
  ASSIGN_OR_RETURN(const date::time_zone* zone, ZoneNamed(told.zone));
  try {
    const date::local_time<milliseconds> local{milliseconds(local_ms)};
    return zone->to_sys(local, date::choose::earliest).time_since_epoch().count();
  } catch (const std::exception&) {
    return BadDate(text);
  }
}

}  // namespace

Result<DatePattern> DatePattern::Parse(std::string_view pattern) {
  constexpr std::string_view kLetters = "yuMdEHhmsSaXZV";
  constexpr int kMostRepeated = 9;
  DatePattern made;
  const auto literal = [&](std::string_view text) {
    if (made.parts_.empty() || made.parts_.back().letter != 0) made.parts_.push_back({});
    made.parts_.back().text += text;
  };
  for (size_t i = 0; i < pattern.size();) {
    const char c = pattern[i];
    if (c == '\'') {
      const size_t close = pattern.find('\'', i + 1);
      if (close == pattern.npos) {
        return Fail(Code::kInvalidArgument, "flow.bad_mapping", "pattern '{}': a quote is open",
                    pattern);
      }
      const std::string_view inside = pattern.substr(i + 1, close - i - 1);
      literal(inside.empty() ? "'" : inside);
      i = close + 1;
      // Two quotes inside quoted text stand for one quote.
      if (!inside.empty() && pattern.substr(i).starts_with('\'')) literal("'");
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      const size_t end = std::min(pattern.find_first_not_of(c, i), pattern.size());
      if (kLetters.find(c) == kLetters.npos || end - i > kMostRepeated) {
        return Fail(Code::kInvalidArgument, "flow.bad_mapping", "pattern '{}': '{}' is not known",
                    pattern, pattern.substr(i, end - i));
      }
      made.parts_.push_back({c, static_cast<int>(end - i), ""});
      i = end;
    } else {
      literal(pattern.substr(i, 1));
      ++i;
    }
  }
  return made;
}

Result<std::string> DatePattern::Format(int64_t unix_ms, const std::string& zone) const {
  ASSIGN_OR_RETURN(const Moment moment, MomentIn(unix_ms, zone));
  std::string out;
  for (const Part& part : parts_) {
    out += part.letter == 0 ? part.text : PartText(part.letter, part.count, moment);
  }
  return out;
}

Result<int64_t> DatePattern::Read(std::string_view text) const {
  TextReader reader(Trim(text));
  Told told;
  for (const Part& part : parts_) {
    const bool read = part.letter == 0 ? reader.Skip(part.text)
                                       : ReadPart(&reader, part.letter, part.count, &told);
    if (!read) return BadDate(text);
  }
  if (!reader.done()) return BadDate(text);
  return MomentOf(told, text);
}

std::string IsoTime(int64_t unix_ms) {
  std::string out;
  json::AppendDatetime({unix_ms * 1000}, &out);
  return out;
}

Result<std::string> LocalTime(int64_t unix_ms) {
  ASSIGN_OR_RETURN(const Moment moment, MomentIn(unix_ms, ""));
  const int64_t ms = moment.ms_of_day;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", moment.year, moment.month,
                     moment.day, ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
}

Result<std::string> ZonedTime(int64_t unix_ms) {
  ASSIGN_OR_RETURN(std::string text, LocalTime(unix_ms));
  ASSIGN_OR_RETURN(const Moment moment, MomentIn(unix_ms, ""));
  text[10] = 'T';
  return fmt::format("{}{}[{}]", text, OffsetText(moment.offset_s, true, true), moment.zone);
}

Status CheckZone(const std::string& zone) {
  const auto found = ZoneNamed(zone);
  return found ? OkStatus() : found.error();
}

}  // namespace sluice::flow
