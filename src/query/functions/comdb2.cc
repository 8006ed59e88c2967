// What means something else in Comdb2 than in SQL++ (bind/comdb2.h), and functions that SQLite has.
#include "query/functions/comdb2.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "db/datetime_text.h"
#include "json/compare.h"
#include "query/functions/arithmetic.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

// As SQLite writes it: whole numbers have a fraction.
std::string RealText(double value) {
  std::string text = fmt::format("{:.15g}", value);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

}  // namespace

std::optional<std::string> Comdb2Text(const Value& value, const std::string& zone) {
  switch (value.type()) {
    case json::Type::kBool:
      return value.AsBool() ? "1" : "0";
    case json::Type::kInt:
      return std::to_string(value.AsInt());
    case json::Type::kDouble:
      return RealText(value.AsDouble());
    case json::Type::kDecimal:
      return value.AsDecimal().ToString();
    case json::Type::kDatetime:
      return db::FormatDatetime(value.AsDatetime(), zone,
                                value.AsDatetime().us % 1000 == 0 ? 3 : 6);
    case json::Type::kInterval:
      return db::FormatInterval(value.AsInterval());
    case json::Type::kString:
      return std::string(value.AsString());
    case json::Type::kBytes:
      return std::string(value.AsBytes());
    default:
      return std::nullopt;
  }
}

namespace {

Value Concat(FunctionContext& context, Args args) {
  std::string all;
  for (const Value* arg : args) {
    const auto text = Comdb2Text(*arg, context.time_zone());
    if (!text || !context.Allow(text->size())) return nullptr;
    all += *text;
  }
  return all;
}

Value Hex(FunctionContext& context, Args args) {
  const auto text = Comdb2Text(*args[0], context.time_zone());
  if (!text || !context.Allow(2 * text->size())) return nullptr;
  std::string hex = ToHex(*text);
  for (char& c : hex) c = c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
  return hex;
}

Value TypeOf(FunctionContext&, Args args) {
  switch (args[0]->type()) {
    case json::Type::kMissing:
    case json::Type::kNull:
      return "null";
    case json::Type::kBool:
    case json::Type::kInt:
      return "integer";
    case json::Type::kDouble:
      return "real";
    case json::Type::kDecimal:
      return "decimal";
    case json::Type::kDatetime:
      return "datetime";
    case json::Type::kInterval:
      return args[0]->AsInterval().kind == json::Interval::Kind::kYearMonth ? "year" : "day";
    case json::Type::kBytes:
      return "blob";
    default:
      return "text";
  }
}

// --- subqueries ---

Value FirstOf(const Value& row) {
  if (!row.is_object()) return row;
  return row.fields().empty() ? Value(nullptr) : row.fields().front().value;
}

Value Scalar(FunctionContext&, Args args) {
  return args[0]->is_array() && args[0]->size() > 0 ? FirstOf((*args[0])[0]) : Value(nullptr);
}

Value Column(FunctionContext&, Args args) {
  std::vector<Value> values;
  for (const Value& row : args[0]->items()) values.push_back(FirstOf(row));
  return Value::Array(std::move(values));
}

// --- numbers ---

double RealOf(const Value& value) {
  if (value.is_number()) return value.ToDouble();
  if (value.is_bool()) return value.AsBool() ? 1 : 0;
  return value.is_string() ? std::strtod(std::string(value.AsString()).c_str(), nullptr) : 0;
}

// Halves go away from zero; the result is a real.
Value Round(FunctionContext&, Args args) {
  constexpr double kMostDigits = 30;
  const double digits = args.size() == 2 ? std::clamp(RealOf(*args[1]), 0.0, kMostDigits) : 0;
  const double number = RealOf(*args[0]);
  const double power = std::pow(10.0, std::trunc(digits));
  const double scaled = number * power;
  return std::abs(scaled) < 0x1p52 ? Value(std::round(scaled) / power) : Value(number);
}

// Two whole numbers give a whole one.
Value Divide(FunctionContext& context, Args args) {
  const bool number = args[1]->is_number() || args[1]->is_bool();
  if (number && RealOf(*args[1]) == 0) return nullptr;
  if (args[0]->is_int() && args[1]->is_int() && args[1]->AsInt() != -1) {
    return args[0]->AsInt() / args[1]->AsInt();
  }
  if (args[0]->is_int() && args[1]->is_int()) return Negate(*args[0]);
  return FindFunction("divide")->body(context, args);
}

// Of whole numbers; a real is cut to one first.
Value Mod(FunctionContext& context, Args args) {
  const bool numbers = args[0]->is_number() && args[1]->is_number();
  if (!numbers) return FindFunction("mod")->body(context, args);
  const auto whole = [](const Value& value) {
    return value.is_int() ? std::optional(value.AsInt())
                          : WholeNumber(std::trunc(value.ToDouble()));
  };
  const auto a = whole(*args[0]);
  const auto b = whole(*args[1]);
  if (!a || !b || *b == 0) return nullptr;
  const int64_t rest = *b == -1 ? 0 : *a % *b;
  const bool real = !args[0]->is_int() || !args[1]->is_int();
  return real ? Value(static_cast<double>(rest)) : Value(rest);
}

Value Power(FunctionContext&, Args args) {
  const double power = std::pow(RealOf(*args[0]), RealOf(*args[1]));
  return std::isfinite(power) ? Value(power) : Value(nullptr);
}

template <bool kLargest>
Value Extreme(FunctionContext&, Args args) {
  const Value* found = args[0];
  for (const Value* arg : args.subspan(1)) {
    const bool larger = json::Compare(*arg, *found) > 0;
    if (larger == kLargest) found = arg;
  }
  return *found;
}

Value Random(FunctionContext& context, Args) { return static_cast<int64_t>(context.Random()); }

Value Total(FunctionContext&, Args args) {
  return args[0]->is_number() ? args[0]->ToDouble() : 0.0;
}

// --- texts ---

// Characters [from, from + count) of so many, as SUBSTR numbers them: from 1, from the end when
// negative; a negative count is of those before.
struct Range {
  int64_t first;
  int64_t past;
};
Range RangeOf(int64_t start, std::optional<int64_t> count, int64_t size) {
  constexpr int64_t kFar = int64_t{1} << 40;
  start = std::clamp(start, -kFar, kFar);
  int64_t first = start > 0 ? start - 1 : start < 0 ? size + start : -1;
  int64_t past = count ? first + std::clamp(*count, -kFar, kFar) : kFar;
  if (start == 0 && !count) first = 0;
  if (past < first) std::swap(first, past);
  return {.first = std::clamp<int64_t>(first, 0, size), .past = std::clamp<int64_t>(past, 0, size)};
}

Value Substr(FunctionContext& context, Args args) {
  const auto number = [](const Value& value) {
    return value.is_int() ? value.AsInt() : static_cast<int64_t>(std::trunc(RealOf(value)));
  };
  const std::optional<int64_t> count =
      args.size() == 3 ? std::optional(number(*args[2])) : std::nullopt;
  const auto text = Comdb2Text(*args[0], context.time_zone());
  if (!text || !context.Allow(text->size())) return nullptr;
  if (args[0]->is_bytes()) {
    const Range range = RangeOf(number(*args[1]), count, static_cast<int64_t>(text->size()));
    return Value::Bytes(text->substr(static_cast<size_t>(range.first),
                                     static_cast<size_t>(range.past - range.first)));
  }
  const Range range = RangeOf(number(*args[1]), count, static_cast<int64_t>(RuneCount(*text)));
  const size_t from = RuneOffset(*text, static_cast<size_t>(range.first));
  const size_t to = RuneOffset(*text, static_cast<size_t>(range.past));
  return text->substr(from, to - from);
}

Value Length(FunctionContext& context, Args args) {
  if (args[0]->is_bytes()) return static_cast<int64_t>(args[0]->AsBytes().size());
  const auto text = Comdb2Text(*args[0], context.time_zone());
  return text ? Value(static_cast<int64_t>(RuneCount(*text))) : Value(nullptr);
}

std::string EscapeBackslashes(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return escaped;
}

// In any case of ASCII letters.
Value Like(FunctionContext& context, Args args) {
  std::vector<Value> lower;
  std::vector<const Value*> pointers;
  lower.reserve(args.size());
  for (const Value* arg : args) {
    const auto text = Comdb2Text(*arg, context.time_zone());
    if (!text || !context.Allow(text->size())) return nullptr;
    lower.emplace_back(ToLowerAscii(*text));
    pointers.push_back(&lower.back());
  }
  // In SQLite nothing escapes unless ESCAPE says so; SQL++ has the backslash.
  if (args.size() == 2) {
    lower[1] = EscapeBackslashes(lower[1].AsString());
  }
  return FindFunction("like")->body(context, pointers);
}

Value Join(FunctionContext& context, Args args) {
  std::string all;
  bool first = true;
  const auto separator = args.size() == 2 ? Comdb2Text(*args[1], context.time_zone()) : ",";
  for (const Value& item : args[0]->items()) {
    const auto text = Comdb2Text(item, context.time_zone());
    if (!text) continue;
    if (!first) all += separator.value_or("");
    if (!context.Allow(all.size() + text->size())) return nullptr;
    all += *text;
    first = false;
  }
  return first ? Value(nullptr) : Value(all);
}

constexpr ScalarFunction kFunctions[] = {
    {kComdb2Concat, 2, kAnyNumber, Concat},
    {kComdb2Scalar, 1, 1, Scalar},
    {kComdb2Column, 1, 1, Column},
    {kComdb2Substr, 2, 3, Substr},
    {kComdb2Round, 1, 2, Round},
    {kComdb2Divide, 2, 2, Divide},
    {kComdb2Mod, 2, 2, Mod},
    {kComdb2Max, 2, kAnyNumber, Extreme<true>},
    {kComdb2Min, 2, kAnyNumber, Extreme<false>},
    {kComdb2Power, 2, 2, Power},
    {kComdb2Length, 1, 1, Length},
    {kComdb2Random, 0, 0, Random, Unknowns::kPropagate, Volatility::kVolatile},
    {kComdb2Like, 2, 3, Like},
    {kComdb2Total, 1, 1, Total, Unknowns::kSeen},
    {kComdb2Join, 1, 2, Join},
    {"hex", 1, 1, Hex},
    {"typeof", 1, 1, TypeOf, Unknowns::kSeen},
};

}  // namespace

FunctionFamily Comdb2Functions() { return {kFunctions, {}}; }

}  // namespace sluice::query
