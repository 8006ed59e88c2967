// Comdb2's functions of datetimes: YEAR, MONTH, DAY, HOUR, MINUTE, SECOND and DAYS, in the
// session's zone.
#include <string>

#include "db/datetime_text.h"
#include "query/functions/comdb2.h"
#include "query/functions/date_parts.h"

namespace sluice::query {
namespace {

constexpr int64_t kSecondInUs = 1'000'000;
constexpr std::string_view kClockParts[] = {"year", "month", "day", "hour", "minute", "second"};

// Of a datetime, or a text that is one; nothing for other values.
std::optional<int64_t> PartOf(FunctionContext& context, const Value& value, std::string_view part) {
  const std::optional<json::Datetime> time =
      value.is_datetime() ? std::optional(value.AsDatetime())
      : value.is_string() ? db::ParseDatetime(value.AsString(), context.time_zone())
                          : std::nullopt;
  const std::optional<Zone> zone = FindZone(context.time_zone());
  if (!time || !zone) return std::nullopt;
  return DatePart({.seconds = FloorDivide(time->us, kSecondInUs), .nanos = 0, .zone = *zone}, part);
}

template <size_t kPart>
Value ClockPart(FunctionContext& context, Args args) {
  const auto part = PartOf(context, *args[0], kClockParts[kPart]);
  return part ? Value(*part) : Value(nullptr);
}

// DAYS(time, 'w' | 'm' | 'y'): how many days of the week, month or year are over.
Value DaysOver(FunctionContext& context, Args args) {
  const std::string_view of = args[1]->is_string() ? args[1]->AsString() : std::string_view();
  if (of == "w") {
    const auto day = PartOf(context, *args[0], "day_of_week");
    return day ? Value(*day) : Value(nullptr);
  }
  if (of != "m" && of != "y") {
    context.Fail(QueryError(QueryCode::kEvaluation,
                            "DAYS(time, of): expected 'w', 'm' or 'y' for the days since the "
                            "beginning of the week, month or year"));
    return nullptr;
  }
  const auto day = PartOf(context, *args[0], of == "m" ? "day" : "day_of_year");
  return day ? Value(*day - 1) : Value(nullptr);
}

constexpr ScalarFunction kComdb2TimeFunctions[] = {
    {kClockParts[0], 1, 1, ClockPart<0>},
    {kClockParts[1], 1, 1, ClockPart<1>},
    {kClockParts[2], 1, 1, ClockPart<2>},
    {kClockParts[3], 1, 1, ClockPart<3>},
    {kClockParts[4], 1, 1, ClockPart<4>},
    {kClockParts[5], 1, 1, ClockPart<5>},
    {"days", 2, 2, DaysOver},
};

}  // namespace

FunctionFamily Comdb2TimeFunctions() { return {kComdb2TimeFunctions, {}}; }

}  // namespace sluice::query
