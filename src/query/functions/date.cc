// Dates. They are numbers of milliseconds since 1970 (_MILLIS) or text (_STR) in the formats of
// date_format.h; text without a zone is in the statement's zone, and results are written as the
// first date was. What is no date, part, zone or format makes NULL.
#include <cmath>
#include <cstdlib>

#include "query/functions/arguments.h"
#include "query/functions/date_format.h"
#include "query/functions/date_parts.h"
#include "query/functions/duration.h"
#include "query/functions/function.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

Zone LocalZone(const FunctionContext& context) {
  return FindZone(context.time_zone()).value_or(Zone{});
}

template <typename T>
Value OrNull(const std::optional<T>& result) {
  return result ? Value(*result) : Value(nullptr);
}

std::optional<Moment> MillisAt(FunctionContext& context, Args args, size_t i) {
  if (!args[i]->is_number()) return std::nullopt;
  return MomentOfMillis(args[i]->ToDouble(), LocalZone(context));
}

struct DateText {
  Moment moment;
  DateFormat format;
};

// A date in one of the usual forms, with its format.
std::optional<DateText> TextAt(FunctionContext& context, Args args, size_t i) {
  if (!args[i]->is_string()) return std::nullopt;
  auto format = DateFormat::Detect(TextOf(args, i));
  if (!format) return std::nullopt;
  const auto moment = format->Parse(TextOf(args, i), LocalZone(context));
  if (!moment) return std::nullopt;
  return DateText{*moment, std::move(*format)};
}

// Dates of functions that come in two kinds.
struct Millis {
  static std::optional<Moment> At(FunctionContext& context, Args args, size_t i) {
    return MillisAt(context, args, i);
  }
};
struct Text {
  static std::optional<Moment> At(FunctionContext& context, Args args, size_t i) {
    const auto text = TextAt(context, args, i);
    return text ? std::optional(text->moment) : std::nullopt;
  }
};

// --- now ---

enum class Clock : uint8_t { kStatement, kWall };
enum class Shown : uint8_t { kLocal, kUtc, kNamed };  // kNamed: in the zone that an argument names

int64_t TimeUs(const FunctionContext& context, Clock clock) {
  return clock == Clock::kStatement ? context.statement_time_us() : context.wall_time_us();
}

template <Clock clock>
Value CurrentMillis(FunctionContext& context, Args) {
  return NumberOf(static_cast<double>(TimeUs(context, clock)) / 1000);
}

template <Clock clock, Shown shown>
Value CurrentText(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  constexpr size_t kFormat = shown == Shown::kNamed ? 1 : 0;
  std::optional<Zone> zone = Zone{};
  if (shown == Shown::kLocal) zone = LocalZone(context);
  if (shown == Shown::kNamed) zone = FindZone(TextOf(args, 0));
  if (!zone) return nullptr;
  const auto moment = MomentOfMillis(static_cast<double>(TimeUs(context, clock)) / 1000, *zone);
  if (!moment) return nullptr;
  return OrNull(PrintDate(*moment, args.size() > kFormat ? TextOf(args, kFormat) : ""));
}

// --- from one kind to the other ---

template <Shown shown>
Value MillisToText(FunctionContext& context, Args args) {
  constexpr size_t kFormat = shown == Shown::kNamed ? 2 : 1;
  if (!AllStrings(args, 1)) return nullptr;
  auto moment = MillisAt(context, args, 0);
  if (!moment) return nullptr;
  if (shown != Shown::kLocal) {
    const auto zone = shown == Shown::kUtc ? Zone{} : FindZone(TextOf(args, 1));
    if (!zone) return nullptr;
    moment->zone = *zone;
  }
  return OrNull(PrintDate(*moment, args.size() > kFormat ? TextOf(args, kFormat) : ""));
}

Value TextToMillis(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const auto moment =
      ParseDate(TextOf(args, 0), args.size() > 1 ? TextOf(args, 1) : "", LocalZone(context));
  return moment ? MillisOf(*moment) : Value(nullptr);
}

// STR_TO_UTC(date [, format [, new format]]), STR_TO_TZ(date, zone [, format [, new format]])
template <Shown shown>
Value TextToZone(FunctionContext& context, Args args) {
  constexpr size_t kFormat = shown == Shown::kNamed ? 2 : 1;
  if (!AllStrings(args)) return nullptr;
  const auto zone = shown == Shown::kUtc ? Zone{} : FindZone(TextOf(args, 1));
  if (!zone) return nullptr;
  if (args.size() <= kFormat) {
    auto text = TextAt(context, args, 0);
    if (!text) return nullptr;
    text->moment.zone = *zone;
    return text->format.Print(text->moment);
  }
  auto moment = ParseDate(TextOf(args, 0), TextOf(args, kFormat), LocalZone(context));
  if (!moment) return nullptr;
  moment->zone = *zone;
  return OrNull(PrintDate(*moment, TextOf(args, args.size() - 1)));
}

// DATE_FORMAT_STR(date, new format), DATE_FORMAT_STR(date, format, new format)
Value FormatText(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const auto moment =
      ParseDate(TextOf(args, 0), args.size() > 2 ? TextOf(args, 1) : "", LocalZone(context));
  if (!moment) return nullptr;
  return OrNull(PrintDate(*moment, TextOf(args, args.size() - 1)));
}

// --- arithmetic ---

Value AddMillis(FunctionContext& context, Args args) {
  const auto moment = MillisAt(context, args, 0);
  const auto count = WholeNumber(*args[1]);
  if (!moment || !count || !args[2]->is_string()) return nullptr;
  const auto sum = AddToDate(*moment, *count, TextOf(args, 2));
  return sum ? MillisOf(*sum) : Value(nullptr);
}

Value AddText(FunctionContext& context, Args args) {
  const auto text = TextAt(context, args, 0);
  const auto count = WholeNumber(*args[1]);
  if (!text || !count || !args[2]->is_string()) return nullptr;
  const auto sum = AddToDate(text->moment, *count, TextOf(args, 2));
  return sum ? Value(text->format.Print(*sum)) : Value(nullptr);
}

template <typename Dates>
std::optional<int64_t> Difference(FunctionContext& context, Args args) {
  const auto a = Dates::At(context, args, 0), b = Dates::At(context, args, 1);
  if (!a || !b || !args[2]->is_string()) return std::nullopt;
  return DateDifference(*a, *b, TextOf(args, 2));
}

template <typename Dates>
Value Diff(FunctionContext& context, Args args) {
  return OrNull(Difference<Dates>(context, args));
}

template <typename Dates>
Value DiffAbs(FunctionContext& context, Args args) {
  const auto difference = Difference<Dates>(context, args);
  return difference ? Value(std::abs(*difference)) : Value(nullptr);
}

Value TruncMillis(FunctionContext& context, Args args) {
  const auto moment = MillisAt(context, args, 0);
  if (!moment || !args[1]->is_string()) return nullptr;
  const auto cut = TruncateDate(*moment, TextOf(args, 1));
  return cut ? MillisOf(*cut) : Value(nullptr);
}

// DATE_TRUNC_STR(date, part [, format])
Value TruncText(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const auto format =
      args.size() > 2 ? DateFormat::Read(TextOf(args, 2)) : DateFormat::Detect(TextOf(args, 0));
  if (!format) return nullptr;
  const auto moment = format->Parse(TextOf(args, 0), LocalZone(context));
  if (!moment) return nullptr;
  const auto cut = TruncateDate(*moment, TextOf(args, 1));
  return cut ? Value(format->Print(*cut)) : Value(nullptr);
}

// --- parts ---

std::optional<Moment> MillisInZone(FunctionContext& context, Args args, size_t zone_argument) {
  auto moment = MillisAt(context, args, 0);
  if (!moment || args.size() <= zone_argument) return moment;
  if (!args[zone_argument]->is_string()) return std::nullopt;
  const auto zone = FindZone(TextOf(args, zone_argument));
  if (!zone) return std::nullopt;
  moment->zone = *zone;
  return moment;
}

Value PartMillis(FunctionContext& context, Args args) {
  const auto moment = MillisInZone(context, args, 2);
  if (!moment || !args[1]->is_string()) return nullptr;
  return OrNull(DatePart(*moment, TextOf(args, 1)));
}

Value PartText(FunctionContext& context, Args args) {
  const auto text = TextAt(context, args, 0);
  if (!text || !args[1]->is_string()) return nullptr;
  return OrNull(DatePart(text->moment, TextOf(args, 1)));
}

Value NameOfWeekday(const std::optional<Moment>& moment) {
  if (!moment) return nullptr;
  return WeekdayName(WeekdayOf(CivilOf(*moment)));
}

Value WeekdayMillis(FunctionContext& context, Args args) {
  return NameOfWeekday(MillisInZone(context, args, 1));
}

Value WeekdayText(FunctionContext& context, Args args) {
  return NameOfWeekday(Text::At(context, args, 0));
}

// --- ranges ---

bool IsBefore(const Moment& a, const Moment& b) {
  return a.seconds != b.seconds ? a.seconds < b.seconds : a.nanos < b.nanos;
}

// From `start` up or down to but without `end`; nothing when there is no such part or the statement
// failed.
template <typename Show>
Value Range(FunctionContext& context, Args args, const Moment& start, const Moment& end,
            Show show) {
  const auto step = args.size() > 3 ? WholeNumber(*args[3]) : 1;
  if (!step || !args[2]->is_string()) return nullptr;
  const auto units = DateDifference(end, start, TextOf(args, 2));
  if (!units) return nullptr;
  if (*step == 0) return Value::Array({show(start)});
  if (IsBefore(start, end) != (*step > 0)) return Value::EmptyArray();
  const int64_t count = std::abs(*units) / std::abs(*step) + 1;
  if (count > kRangeLimit) {
    context.Fail(QueryError(QueryCode::kRange, "a range of dates may have {} of them, not {}",
                            kRangeLimit, count));
    return nullptr;
  }
  constexpr size_t kDateBytes = 64;
  if (!context.Allow(static_cast<size_t>(count) * kDateBytes)) return nullptr;
  // The ends of months are counted from the start: 30 January, 29 February, 30 March.
  const bool from_start = ToLowerAscii(TextOf(args, 2)) == "calendar_month";
  std::vector<Value> items;
  std::optional<Moment> next = start;
  while (next && (*step > 0 ? IsBefore(*next, end) : IsBefore(end, *next))) {
    if (!context.Spend(1)) return nullptr;
    items.push_back(show(*next));
    const auto steps = static_cast<int64_t>(items.size());
    // A date past the calendar is past the end, too.
    next = from_start ? AddToDate(start, *step * steps, TextOf(args, 2))
                      : AddToDate(*next, *step, TextOf(args, 2));
  }
  return Value::Array(std::move(items));
}

Value RangeMillis(FunctionContext& context, Args args) {
  const auto start = MillisAt(context, args, 0), end = MillisAt(context, args, 1);
  if (!start || !end) return nullptr;
  return Range(context, args, *start, *end, MillisOf);
}

Value RangeText(FunctionContext& context, Args args) {
  const auto start = TextAt(context, args, 0), end = TextAt(context, args, 1);
  if (!start || !end) return nullptr;
  return Range(context, args, start->moment, end->moment,
               [&](const Moment& moment) { return Value(start->format.Print(moment)); });
}

// --- durations ---

std::optional<DurationStyle> StyleAt(Args args, size_t i) {
  if (args.size() <= i) return DurationStyle::kAny;
  return args[i]->is_string() ? FindDurationStyle(TextOf(args, i)) : std::nullopt;
}

Value DurationToText(FunctionContext&, Args args) {
  const auto style = StyleAt(args, 1);
  if (!style || !args[0]->is_number()) return nullptr;
  const auto nanos = WholeNumber(std::trunc(args[0]->ToDouble()));
  return nanos ? Value(PrintDuration(*nanos, *style)) : Value(nullptr);
}

Value TextToDuration(FunctionContext&, Args args) {
  const auto style = StyleAt(args, 1);
  if (!style || !args[0]->is_string()) return nullptr;
  return OrNull(ParseDuration(TextOf(args, 0), *style));
}

constexpr auto kSame = Volatility::kStatement;
constexpr auto kNew = Volatility::kVolatile;

constexpr ScalarFunction kDateFunctions[] = {
    {"clock_millis", 0, 0, CurrentMillis<Clock::kWall>, Unknowns::kPropagate, kNew},
    {"clock_local", 0, 1, CurrentText<Clock::kWall, Shown::kLocal>, Unknowns::kPropagate, kNew},
    {"clock_tz", 1, 2, CurrentText<Clock::kWall, Shown::kNamed>, Unknowns::kPropagate, kNew},
    {"clock_utc", 0, 1, CurrentText<Clock::kWall, Shown::kUtc>, Unknowns::kPropagate, kNew},
    {"now_millis", 0, 0, CurrentMillis<Clock::kStatement>, Unknowns::kPropagate, kSame},
    {"now_local", 0, 1, CurrentText<Clock::kStatement, Shown::kLocal>, Unknowns::kPropagate, kSame},
    {"now_tz", 1, 2, CurrentText<Clock::kStatement, Shown::kNamed>, Unknowns::kPropagate, kSame},
    {"now_utc", 0, 1, CurrentText<Clock::kStatement, Shown::kUtc>, Unknowns::kPropagate, kSame},
    {"millis_to_local", 1, 2, MillisToText<Shown::kLocal>},
    {"millis_to_tz", 2, 3, MillisToText<Shown::kNamed>},
    {"millis_to_utc", 1, 2, MillisToText<Shown::kUtc>},
    {"str_to_millis", 1, 2, TextToMillis},
    {"str_to_utc", 1, 3, TextToZone<Shown::kUtc>},
    {"str_to_tz", 2, 4, TextToZone<Shown::kNamed>},
    {"date_format_str", 2, 3, FormatText},
    {"date_add_millis", 3, 3, AddMillis},
    {"date_add_str", 3, 3, AddText},
    {"date_diff_millis", 3, 3, Diff<Millis>},
    {"date_diff_str", 3, 3, Diff<Text>},
    {"date_diff_abs_millis", 3, 3, DiffAbs<Millis>},
    {"date_diff_abs_str", 3, 3, DiffAbs<Text>},
    {"date_trunc_millis", 2, 2, TruncMillis},
    {"date_trunc_str", 2, 3, TruncText},
    {"date_part_millis", 2, 3, PartMillis},
    {"date_part_str", 2, 2, PartText},
    {"weekday_millis", 1, 2, WeekdayMillis},
    {"weekday_str", 1, 1, WeekdayText},
    {"date_range_millis", 3, 4, RangeMillis},
    {"date_range_str", 3, 4, RangeText},
    {"duration_to_str", 1, 2, DurationToText},
    {"str_to_duration", 1, 2, TextToDuration},
};

constexpr FunctionAlias kDateAliases[] = {
    {"clock_str", "clock_local"},
    {"now_str", "now_local"},
    {"millis", "str_to_millis"},
    {"millis_to_str", "millis_to_local"},
    {"millis_to_zone_name", "millis_to_tz"},
    {"str_to_zone_name", "str_to_tz"},
};

}  // namespace

FunctionFamily DateFunctions() { return {kDateFunctions, kDateAliases}; }

}  // namespace sluice::query
