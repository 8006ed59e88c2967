// What means something else in Comdb2 than in SQL++ (bind/comdb2.h), and functions that SQLite has.
#include "query/functions/comdb2.h"

#include <optional>

#include <fmt/format.h>

#include "base/bytes.h"
#include "db/datetime_text.h"

namespace sluice::query {
namespace {

// As SQLite writes it: whole numbers have a fraction.
std::string RealText(double value) {
  std::string text = fmt::format("{:.15g}", value);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

// A scalar as text; none for arrays and objects.
std::optional<std::string> TextOf(const Value& value, const std::string& zone) {
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

Value Concat(FunctionContext& context, Args args) {
  std::string all;
  for (const Value* arg : args) {
    const auto text = TextOf(*arg, context.time_zone());
    if (!text || !context.Allow(text->size())) return nullptr;
    all += *text;
  }
  return all;
}

Value Hex(FunctionContext& context, Args args) {
  const auto text = TextOf(*args[0], context.time_zone());
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

constexpr ScalarFunction kFunctions[] = {
    {kComdb2Concat, 2, kAnyNumber, Concat},
    {"hex", 1, 1, Hex},
    {"typeof", 1, 1, TypeOf, Unknowns::kSeen},
};

}  // namespace

FunctionFamily Comdb2Functions() { return {kFunctions, {}}; }

}  // namespace sluice::query
