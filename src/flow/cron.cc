#include "flow/cron.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr uint64_t kMinuteMs = 60'000;
constexpr int64_t kMinutesPerDay = 24 * 60;
constexpr int64_t kMostDays =
    366 * 9;  // the 29th of February comes after eight years at the latest

constexpr std::string_view kCronMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                            "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kWeekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct Field {
  std::string_view name;
  int least;
  int most;
  std::span<const std::string_view> names = {};
};
constexpr Field kMinute{"minute", 0, 59};
constexpr Field kHour{"hour", 0, 23};
constexpr Field kDay{"day of the month", 1, 31};
constexpr Field kMonth{"month", 1, 12, kCronMonths};
constexpr Field kWeekday{"day of the week", 0, 7, kWeekdays};

Status Bad(const Field& field, std::string_view text) {
  return Error(Code::kInvalidArgument, "flow.bad_cron",
               "the {} '{}' is none: expected numbers from {} to {}, ranges (1-5), lists (1,2) and "
               "steps (*/5)",
               field.name, text, field.least, field.most);
}

std::optional<int> NumberOf(const Field& field, std::string_view text) {
  for (size_t i = 0; i < field.names.size(); ++i) {
    if (EqualsIgnoringCase(text, field.names[i])) return static_cast<int>(i) + field.least;
  }
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if (number < field.least || number > field.most) return std::nullopt;
  return number;
}

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t found = text.find(at);
    parts.push_back(text.substr(0, found));
    if (found == text.npos) return parts;
    text.remove_prefix(found + 1);
  }
}

// One of a list: `*`, `5`, `1-5`, each also with a step.
template <size_t kSize>
bool AddPart(const Field& field, std::string_view part, std::bitset<kSize>* bits) {
  int step = 1;
  const size_t slash = part.find('/');
  const std::string_view range = part.substr(0, slash);
  if (slash != part.npos) {
    const auto number = NumberOf({field.name, 1, field.most}, part.substr(slash + 1));
    if (!number) return false;
    step = *number;
  }
  int from = field.least;
  int to = field.most;
  if (range != "*") {
    const size_t dash = range.find('-');
    const auto first = NumberOf(field, range.substr(0, dash));
    const auto last = dash == range.npos ? first : NumberOf(field, range.substr(dash + 1));
    if (!first || !last || *first > *last) return false;
    from = *first;
    to = dash == range.npos && slash != part.npos ? field.most : *last;
  }
  for (int i = from; i <= to; i += step) bits->set(static_cast<size_t>(i));
  return true;
}

template <size_t kSize>
Status ReadField(const Field& field, std::string_view text, std::bitset<kSize>* bits) {
  for (const std::string_view part : Split(text, ',')) {
    if (!AddPart(field, part, bits)) return Bad(field, text);
  }
  return OkStatus();
}

}  // namespace

Result<Cron> Cron::Parse(std::string_view text) {
  std::vector<std::string_view> fields;
  for (const std::string_view part : Split(text, ' ')) {
    if (!part.empty()) fields.push_back(part);
  }
  if (fields.size() != 5) {
    return Fail(Code::kInvalidArgument, "flow.bad_cron",
                "'{}' is not a schedule: expected minute, hour, day of the month, month and day of "
                "the week, as in '0 3 * * mon'",
                text);
  }
  Cron cron;
  RETURN_IF_ERROR(ReadField(kMinute, fields[0], &cron.minutes_));
  RETURN_IF_ERROR(ReadField(kHour, fields[1], &cron.hours_));
  RETURN_IF_ERROR(ReadField(kDay, fields[2], &cron.days_));
  RETURN_IF_ERROR(ReadField(kMonth, fields[3], &cron.months_));
  RETURN_IF_ERROR(ReadField(kWeekday, fields[4], &cron.weekdays_));
  if (cron.weekdays_[7]) cron.weekdays_.set(0);
  cron.any_day_ = fields[2] == "*";
  cron.any_weekday_ = fields[4] == "*";
  if (!cron.After(0)) {
    return Fail(Code::kInvalidArgument, "flow.bad_cron", "'{}' names a day that there never is",
                text);
  }
  return cron;
}

bool Cron::IsDay(int64_t days) const {
  const std::chrono::sys_days date{std::chrono::days(days)};
  const std::chrono::year_month_day day(date);
  if (!months_[static_cast<unsigned>(day.month())]) return false;
  const bool by_day = days_[static_cast<unsigned>(day.day())];
  const bool by_weekday = weekdays_[std::chrono::weekday(date).c_encoding()];
  if (any_day_) return by_weekday;
  if (any_weekday_) return by_day;
  return by_day || by_weekday;
}

std::optional<uint64_t> Cron::After(uint64_t time_ms) const {
  int64_t minute = static_cast<int64_t>(time_ms / kMinuteMs) + 1;
  const int64_t first_day = minute / kMinutesPerDay;
  for (int64_t day = first_day; day < first_day + kMostDays; ++day) {
    const int64_t from = day == first_day ? minute % kMinutesPerDay : 0;
    if (!IsDay(day)) continue;
    for (int64_t i = from; i < kMinutesPerDay; ++i) {
      if (!hours_[static_cast<size_t>(i / 60)] || !minutes_[static_cast<size_t>(i % 60)]) continue;
      return static_cast<uint64_t>(day * kMinutesPerDay + i) * kMinuteMs;
    }
  }
  return std::nullopt;
}

}  // namespace sluice::flow
