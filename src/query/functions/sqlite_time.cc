// SQLite's functions of dates: STRFTIME(format, time, modifiers ...), DATE, TIME, JULIANDAY. Times
// are in UTC, as SQLite has them.
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "db/datetime_text.h"
#include "query/functions/comdb2.h"
#include "query/functions/temporal.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr int64_t kDayUs = 86'400 * kSecondUs;
constexpr double kEpochJulianDay = 2440587.5;

using json::Datetime;
using json::Interval;

int64_t FloorTo(int64_t us, int64_t unit) {
  const int64_t rest = us % unit;
  return us - (rest < 0 ? rest + unit : rest);
}

std::tm PartsOf(Datetime moment) {
  const time_t seconds = FloorTo(moment.us, kSecondUs) / kSecondUs;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

Datetime MomentOf(std::tm parts) { return {timegm(&parts) * kSecondUs}; }

// A number is a Julian day, or seconds where the modifier says so.
std::optional<Datetime> TimeOf(FunctionContext& context, const Value& value, bool seconds) {
  if (value.is_datetime()) return value.AsDatetime();
  if (value.is_number()) {
    const double us = seconds ? value.ToDouble() * kSecondUs
                              : (value.ToDouble() - kEpochJulianDay) * static_cast<double>(kDayUs);
    constexpr double kMost = 2.6e17;  // about the year 9999
    if (!(std::abs(us) < kMost)) return std::nullopt;
    return Datetime{std::llround(us)};
  }
  if (!value.is_string()) return std::nullopt;
  if (value.AsString() == "now") return Datetime{context.statement_time_us()};
  return db::ParseDatetime(value.AsString());
}

// "+3 days", "start of month", "unixepoch"
std::optional<Datetime> Modified(Datetime moment, const std::string& modifier) {
  if (modifier == "unixepoch" || modifier == "utc") return moment;
  std::tm parts = PartsOf(moment);
  if (modifier == "start of day") return Datetime{FloorTo(moment.us, kDayUs)};
  if (modifier == "start of month" || modifier == "start of year") {
    parts.tm_mday = 1;
    if (modifier == "start of year") parts.tm_mon = 0;
    return Datetime{FloorTo(MomentOf(parts).us, kDayUs)};
  }
  double amount = 0;
  const char* from = modifier.data() + (modifier.starts_with('+') ? 1 : 0);
  const char* const end = modifier.data() + modifier.size();
  const auto [stop, error] = std::from_chars(from, end, amount);
  if (error != std::errc() || stop == end || *stop != ' ') return std::nullopt;
  std::string unit(stop + 1, end);
  if (unit.ends_with('s')) unit.pop_back();
  const std::pair<std::string_view, int64_t> units[] = {{"day", kDayUs},
                                                        {"hour", 3600 * kSecondUs},
                                                        {"minute", 60 * kSecondUs},
                                                        {"second", kSecondUs}};
  constexpr double kMostDays = 4e6;
  for (const auto& [name, us] : units) {
    const double change = amount * static_cast<double>(us);
    if (unit != name) continue;
    if (std::abs(change) > kMostDays * static_cast<double>(kDayUs)) return std::nullopt;
    return Datetime{moment.us + std::llround(change)};
  }
  constexpr double kMostMonths = 120'000;
  if ((unit != "month" && unit != "year") || std::abs(amount) > kMostMonths) return std::nullopt;
  // As SQLite: a day that the month has not goes on into the next one.
  (unit == "month" ? parts.tm_mon : parts.tm_year) += static_cast<int>(amount);
  return Datetime{MomentOf(parts).us + (moment.us - FloorTo(moment.us, kSecondUs))};
}

// The time that the arguments from here on mean: none for now.
std::optional<Datetime> Moment(FunctionContext& context, Args args) {
  if (args.empty()) return Datetime{context.statement_time_us()};
  const bool seconds =
      args.size() > 1 && args[1]->is_string() && args[1]->AsString() == "unixepoch";
  std::optional<Datetime> moment = TimeOf(context, *args[0], seconds);
  for (const Value* modifier : args.subspan(1)) {
    if (!moment || !modifier->is_string()) return std::nullopt;
    moment = Modified(*moment, ToLowerAscii(modifier->AsString()));
  }
  return moment;
}

double JulianDayOf(Datetime moment) {
  return static_cast<double>(moment.us) / static_cast<double>(kDayUs) + kEpochJulianDay;
}

// One of %d %f %H %j %J %m %M %s %S %w %W %Y %%; false for another letter.
bool AppendPart(char letter, Datetime moment, const std::tm& parts, std::string* out) {
  const auto fraction = static_cast<double>(moment.us - FloorTo(moment.us, kSecondUs)) / kSecondUs;
  switch (letter) {
    case 'd':
      *out += fmt::format("{:02}", parts.tm_mday);
      return true;
    case 'f':
      *out += fmt::format("{:06.3f}", parts.tm_sec + fraction);
      return true;
    case 'H':
      *out += fmt::format("{:02}", parts.tm_hour);
      return true;
    case 'j':
      *out += fmt::format("{:03}", parts.tm_yday + 1);
      return true;
    case 'J':
      *out += fmt::format("{:.16g}", JulianDayOf(moment));
      return true;
    case 'm':
      *out += fmt::format("{:02}", parts.tm_mon + 1);
      return true;
    case 'M':
      *out += fmt::format("{:02}", parts.tm_min);
      return true;
    case 's':
      *out += std::to_string(FloorTo(moment.us, kSecondUs) / kSecondUs);
      return true;
    case 'S':
      *out += fmt::format("{:02}", parts.tm_sec);
      return true;
    case 'w':
      *out += std::to_string(parts.tm_wday);
      return true;
    case 'W':
      *out += fmt::format("{:02}", (parts.tm_yday + 7 - (parts.tm_wday + 6) % 7) / 7);
      return true;
    case 'Y':
      *out += fmt::format("{:04}", parts.tm_year + 1900);
      return true;
    case '%':
      *out += '%';
      return true;
    default:
      return false;
  }
}

Value Formatted(std::string_view format, Datetime moment) {
  const std::tm parts = PartsOf(moment);
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
    } else if (++i == format.size() || !AppendPart(format[i], moment, parts, &text)) {
      return nullptr;
    }
  }
  return text;
}

Value StrfTime(FunctionContext& context, Args args) {
  const auto moment = Moment(context, args.subspan(1));
  if (!moment || !args[0]->is_string()) return nullptr;
  return Formatted(args[0]->AsString(), *moment);
}

Value Date(FunctionContext& context, Args args) {
  const auto moment = Moment(context, args);
  return moment ? Formatted("%Y-%m-%d", *moment) : Value(nullptr);
}

Value Time(FunctionContext& context, Args args) {
  const auto moment = Moment(context, args);
  return moment ? Formatted("%H:%M:%S", *moment) : Value(nullptr);
}

Value JulianDay(FunctionContext& context, Args args) {
  const auto moment = Moment(context, args);
  return moment ? Value(JulianDayOf(*moment)) : Value(nullptr);
}

constexpr uint8_t kMostArguments = 16;
constexpr ScalarFunction kFunctions[] = {
    {"strftime", 1, kMostArguments, StrfTime, Unknowns::kPropagate, Volatility::kStatement},
    {"date", 0, kMostArguments, Date, Unknowns::kPropagate, Volatility::kStatement},
    {"time", 0, kMostArguments, Time, Unknowns::kPropagate, Volatility::kStatement},
    {"julianday", 0, kMostArguments, JulianDay, Unknowns::kPropagate, Volatility::kStatement},
};

}  // namespace

FunctionFamily SqliteTimeFunctions() { return {kFunctions, {}}; }

}  // namespace sluice::query
