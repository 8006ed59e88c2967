// CAST(value AS type) is the call cast(value, "type" [, length]). Types are those of columns, and
// the units of intervals; values are converted as columns convert them, but numbers from texts as
// SQLite does it: what the text begins with, else 0.
#include "query/functions/cast.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "db/datetime_text.h"
#include "db/row.h"
#include "json/number.h"

namespace sluice::query {
namespace {

using db::ColumnType;
using json::Interval;

struct Unit {
  std::string_view name;  // of one; of several it ends with s
  Interval::Kind kind;
  int64_t amount;  // months or microseconds
};
constexpr int64_t kSecondUs = 1'000'000;
constexpr Unit kUnits[] = {{"year", Interval::Kind::kYearMonth, 12},
                           {"month", Interval::Kind::kYearMonth, 1},
                           {"day", Interval::Kind::kDaySecond, 86'400 * kSecondUs},
                           {"hour", Interval::Kind::kDaySecond, 3600 * kSecondUs},
                           {"minute", Interval::Kind::kDaySecond, 60 * kSecondUs},
                           {"second", Interval::Kind::kDaySecond, kSecondUs},
                           {"sec", Interval::Kind::kDaySecond, kSecondUs}};

const Unit* UnitOf(std::string_view name) {
  if (name.size() > 1 && name.ends_with('s')) name.remove_suffix(1);
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

std::optional<ColumnType> TypeOf(std::string_view name) {
  if (name == "int" || name == "integer") return ColumnType::kLongLong;
  if (name == "numeric") return ColumnType::kDecimal128;
  return db::ColumnTypeOf(name);
}

bool IsInteger(ColumnType type) { return type <= ColumnType::kUnsignedLongLong; }
bool IsReal(ColumnType type) { return type == ColumnType::kFloat || type == ColumnType::kDouble; }
bool IsText(ColumnType type) { return type == ColumnType::kCString || type == ColumnType::kVutf8; }
bool IsBytes(ColumnType type) { return type == ColumnType::kByte || type == ColumnType::kBlob; }

// The number that a text begins with.
Value LeadingNumber(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  text.remove_prefix(std::min(first, text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  // Of "12.x" the digits before the point.
  for (size_t length = std::min(text.size(), text.find_first_not_of("+-.eE0123456789")); length > 0;
       --length) {
    if (json::NumberLength(text.substr(0, length)) == length) {
      return json::NumberFromLiteral(text.substr(0, length));
    }
  }
  return 0;
}

Value InUnits(FunctionContext& context, const Value& value, const Unit& unit) {
  if (value.is_interval() && value.AsInterval().kind == unit.kind) {
    return static_cast<double>(value.AsInterval().amount) / static_cast<double>(unit.amount);
  }
  const Value number = value.is_string() ? LeadingNumber(value.AsString()) : value;
  const double amount =
      number.is_number() ? number.ToDouble() * static_cast<double>(unit.amount) : NAN;
  constexpr double kMost = 9e18;
  if (!(std::abs(amount) < kMost)) {
    context.Fail(QueryError(QueryCode::kConversion, "CAST: expected a number of {}s, found {}",
                            unit.name, json::TypeName(value.type())));
    return nullptr;
  }
  return Interval{.kind = unit.kind, .amount = std::llround(amount)};
}

// Text in the session's zone, cut to its length.
Value ToText(const Value& value, const std::string& zone, size_t most) {
  std::string text;
  if (value.is_bytes()) {
    text = value.AsBytes();
  } else if (value.is_bool()) {
    text = value.AsBool() ? "1" : "0";
  } else if (value.is_datetime()) {
    text = db::FormatDatetime(value.AsDatetime(), zone, 3);
  } else {
    const auto stored = db::StoreColumn({}, {.name = "", .type = ColumnType::kVutf8}, value);
    if (!stored) return nullptr;
    text = stored->AsString();
  }
  if (most > 0 && text.size() > most) text.resize(most);
  return text;
}

Value Convert(FunctionContext& context, const Value& value, ColumnType type) {
  const bool number = IsInteger(type) || IsReal(type);
  const Value from = number && value.is_string() ? LeadingNumber(value.AsString()) : value;
  const auto stored = db::StoreColumn({}, {.name = "", .type = type}, from);
  if (!stored) {
    context.Fail(QueryError(QueryCode::kConversion, "CAST: the {} can't become a {}",
                            json::TypeName(value.type()), db::ColumnTypeName(type)));
    return nullptr;
  }
  return IsReal(type) ? Value(stored->ToDouble()) : db::LoadColumn(type, *stored);
}

Value Cast(FunctionContext& context, Args args) {
  const Value& value = *args[0];
  const std::string_view name = args[1]->is_string() ? args[1]->AsString() : "";
  if (const Unit* unit = UnitOf(name)) return InUnits(context, value, *unit);
  const auto type = TypeOf(name);
  if (!type) {
    context.Fail(QueryError(QueryCode::kPlan, "CAST: there is no type '{}'", name));
    return nullptr;
  }
  const size_t most =
      args.size() > 2 && args[2]->is_int() ? static_cast<size_t>(args[2]->AsInt()) : 0;
  if (IsText(*type)) return ToText(value, context.time_zone(), most);
  if (IsBytes(*type) && !value.is_bytes()) {
    const Value text = ToText(value, context.time_zone(), most);
    return text.is_string() ? Value::Bytes(std::string(text.AsString())) : Value(nullptr);
  }
  return Convert(context, value, *type);
}

constexpr ScalarFunction kCastFunctions[] = {
    {"cast", 2, 3, Cast, Unknowns::kPropagate, Volatility::kStatement},
};

}  // namespace

FunctionFamily CastFunctions() { return {kCastFunctions, {}}; }

}  // namespace sluice::query
