#include "doctype/casts.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "doctype/dates.h"
#include "json/number.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr int64_t kSecondMs = 1000;
constexpr int64_t kMinuteMs = 60 * kSecondMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;
constexpr int64_t kDayMs = 24 * kHourMs;

using Caster = Value (*)(const Value&);  // missing if it can't

Value ToString(const Value& value) {
  if (value.is_string()) return value;
  return value.is_number() || value.is_bool() ? Value(json::ToText(value)) : Value();
}

Value ToNumber(const Value& value) {
  if (value.is_number()) return value;
  if (!value.is_string()) return Value();
  const std::string_view text = value.AsString();
  if (text.empty() || json::NumberLength(text) != text.size()) return Value();
  return json::NumberFromLiteral(text);
}

Value ToInteger(const Value& value) {
  const Value number = ToNumber(value);
  if (!number.is_double()) return number;
  constexpr double kExact = 9007199254740992.0;
  const double real = number.AsDouble();
  if (std::trunc(real) != real || std::abs(real) > kExact) return Value();
  return static_cast<int64_t>(real);
}

Value ToBoolean(const Value& value) {
  if (value.is_bool()) return value;
  if (value.is_int() && (value.AsInt() == 0 || value.AsInt() == 1)) return value.AsInt() == 1;
  if (!value.is_string()) return Value();
  if (value.AsString() == "true") return true;
  if (value.AsString() == "false") return false;
  return Value();
}

std::optional<int64_t> TimeOf(const Value& value) {
  if (!value.is_string()) return std::nullopt;
  if (const auto time = ParseDateTime(value.AsString())) return time->ms;
  if (const auto days = ParseDate(value.AsString())) return *days * kDayMs;
  return std::nullopt;
}

template <int64_t unit>
Value ToEpoch(const Value& value) {
  if (value.is_int()) return value;
  const auto time = TimeOf(value);
  if (!time) return Value();
  return *time >= 0 ? *time / unit : -((-*time + unit - 1) / unit);
}

Value ToDate(const Value& value) {
  if (!value.is_string()) return Value();
  if (ParseDate(value.AsString())) return value;
  const auto days = ParseMonthDate(value.AsString());
  return days ? Value(FormatDate(*days)) : Value();
}

// Casts an epoch in milliseconds to a coarser unit.
template <int64_t unit>
Value ToUnit(const Value& value) {
  if (!value.is_int()) return Value();
  return value.AsInt() / unit;
}

Value ToGuid(const Value& value) {
  if (!value.is_string()) return Value();
  std::string text(value.AsString());
  std::erase(text, '-');
  return text;
}

struct NamedCast {
  std::string_view name;
  Caster cast;
};
constexpr NamedCast kCasts[] = {{"string", ToString},
                                {"number", ToNumber},
                                {"integer", ToInteger},
                                {"boolean", ToBoolean},
                                {"epoch_ms", ToEpoch<1>},
                                {"epoch_s", ToEpoch<kSecondMs>},
                                {"epoch_minutes", ToEpoch<kMinuteMs>},
                                {"epoch_hours", ToEpoch<kHourMs>},
                                {"epoch_days", ToEpoch<kDayMs>},
                                {"date", ToDate},
                                {"seconds", ToUnit<kSecondMs>},
                                {"minutes", ToUnit<kMinuteMs>},
                                {"hours", ToUnit<kHourMs>},
                                {"days", ToUnit<kDayMs>},
                                {"guid", ToGuid}};

}  // namespace

Status CheckCast(const Value& how) {
  std::vector<std::string> names;
  for (const NamedCast& cast : kCasts) names.emplace_back(cast.name);
  if (!how.is_string()) {
    return Error(Code::kInvalidArgument, "type.invalid", "expected one of {}",
                 fmt::join(names, ", "));
  }
  for (const std::string& name : names) {
    if (name == how.AsString()) return OkStatus();
  }
  return Error(Code::kInvalidArgument, "type.invalid", "there is no cast '{}', only {}{}",
               how.AsString(), fmt::join(names, ", "), DidYouMean(how.AsString(), names));
}

Result<Value> Cast(const Value& value, std::string_view how) {
  for (const NamedCast& cast : kCasts) {
    if (cast.name != how) continue;
    Value made = cast.cast(value);
    if (!made.is_missing()) return made;
  }
  constexpr size_t kShown = 100;
  std::string shown = json::ToText(value);
  if (shown.size() > kShown)
    shown = fmt::format("{} of {} bytes", json::TypeName(value.type()), shown.size());
  return Fail(Code::kInvalidArgument, "migration.mismatch", "{} can't become '{}'", shown, how);
}

}  // namespace sluice::doctype
