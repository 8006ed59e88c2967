#include "flow/portable.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/base64.h"
#include "flow/text_form.h"
#include "json/print.h"

namespace sluice::flow {
namespace {

using json::Value;

constexpr std::string_view kMark = "$sluice";

// Below this a whole double prints without an exponent, and so would be read as an integer.
constexpr double kLeastWithExponent = 1e21;

bool PrintsAsInteger(const Value& value) {
  if (!value.is_double() || !value.literal().empty()) return false;
  const double number = value.AsDouble();
  return std::abs(number) < kLeastWithExponent && std::floor(number) == number;
}

// The mark itself, or the mark with dollars before it.
bool IsMarkLike(std::string_view name) {
  const size_t first = name.find_first_not_of('$');
  return first != name.npos && first > 0 && name.substr(first) == kMark.substr(1);
}

bool IsPlain(const Value& value) {
  switch (value.type()) {
    case json::Type::kBytes:
    case json::Type::kDatetime:
    case json::Type::kInterval:
    case json::Type::kDecimal:
      return false;
    case json::Type::kDouble:
      return !PrintsAsInteger(value);
    case json::Type::kArray:
      for (const Value& item : value.items()) {
        if (!IsPlain(item)) return false;
      }
      return true;
    case json::Type::kObject:
      for (const json::Field& field : value.fields()) {
        if (IsMarkLike(field.name()) || !IsPlain(field.value)) return false;
      }
      return true;
    default:
      return true;
  }
}

Value Marked(std::string_view kind, Value value) {
  return Value::Object({{kMark, kind}, {"v", std::move(value)}});
}

Value PortableObject(const Value& value) {
  Value made = Value::EmptyObject();
  for (const json::Field& field : value.fields()) {
    const std::string escape = IsMarkLike(field.name()) ? "$" : "";
    made.Set(escape + std::string(field.name()), ToPortable(field.value));
  }
  return made;
}

std::unexpected<Status> Bad(std::string_view why) {
  return Fail(Code::kCorruption, "flow.bad_state", "a stored value can't be read: {}", why);
}

Result<Value> PlainObject(const Value& value) {
  Value made = Value::EmptyObject();
  for (const json::Field& field : value.fields()) {
    ASSIGN_OR_RETURN(Value inner, FromPortable(field.value));
    const size_t escape = IsMarkLike(field.name()) ? 1 : 0;
    made.Set(field.name().substr(escape), std::move(inner));
  }
  return made;
}

Result<Value> FromMarked(std::string_view kind, const Value& value) {
  if (kind == "bytes" && value.is_string()) {
    ASSIGN_OR_RETURN(const std::string bytes, FromBase64(value.AsString()));
    return Value::Bytes(bytes);
  }
  if (kind == "double" && value.is_string()) {
    const auto number = ParseNumber(value.AsString());
    return number ? Result<Value>(*number) : Bad(kind);
  }
  if (kind == "decimal" && value.is_string()) {
    ASSIGN_OR_RETURN(const json::Decimal decimal, json::Decimal::Parse(value.AsString()));
    return Value(decimal);
  }
  if (!value.is_int()) return Bad(kind);
  using Kind = json::Interval::Kind;
  if (kind == "datetime") return Value(json::Datetime{value.AsInt()});
  if (kind == "months") return Value(json::Interval{Kind::kYearMonth, value.AsInt()});
  if (kind == "interval") return Value(json::Interval{Kind::kDaySecond, value.AsInt()});
  return Bad(kind);
}

}  // namespace

Value ToPortable(const Value& value) {
  if (IsPlain(value)) return value;
  switch (value.type()) {
    case json::Type::kBytes:
      return Marked("bytes", ToBase64(value.AsBytes()));
    case json::Type::kDatetime:
      return Marked("datetime", value.AsDatetime().us);
    case json::Type::kInterval: {
      const json::Interval interval = value.AsInterval();
      const bool months = interval.kind == json::Interval::Kind::kYearMonth;
      return Marked(months ? "months" : "interval", interval.amount);
    }
    case json::Type::kDecimal:
      return Marked("decimal", json::ToText(value));
    case json::Type::kDouble:
      return Marked("double", fmt::format("{:.0f}", value.AsDouble()));
    case json::Type::kArray: {
      Value made = Value::EmptyArray();
      for (const Value& item : value.items()) made.Append(ToPortable(item));
      return made;
    }
    default:
      return PortableObject(value);
  }
}

Result<Value> FromPortable(const Value& value) {
  if (value.is_array()) {
    Value made = Value::EmptyArray();
    for (const Value& item : value.items()) {
      ASSIGN_OR_RETURN(Value inner, FromPortable(item));
      made.Append(std::move(inner));
    }
    return made;
  }
  if (!value.is_object()) return value;
  if (const Value* kind = value.Find(kMark)) {
    if (!kind->is_string()) return Bad("a mark");
    return FromMarked(kind->AsString(), value["v"]);
  }
  return PlainObject(value);
}

}  // namespace sluice::flow
