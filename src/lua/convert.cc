#include "lua/convert.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "json/number.h"
#include "json/print.h"

namespace sluice::lua {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;

constexpr std::pair<std::string_view, DataType> kNames[] = {
    {"int", DataType::kInt},
    {"real", DataType::kReal},
    {"cstring", DataType::kCstring},
    {"blob", DataType::kBlob},
    {"datetime", DataType::kDatetime},
    {"intervalym", DataType::kIntervalYm},
    {"intervalds", DataType::kIntervalDs},
    {"decimal", DataType::kDecimal},
    {"short", DataType::kInt},
    {"u_short", DataType::kInt},
    {"smallint", DataType::kInt},
    {"integer", DataType::kInt},
    {"u_int", DataType::kInt},
    {"longlong", DataType::kInt},
    {"bigint", DataType::kInt},
    {"u_longlong", DataType::kInt},
    {"double", DataType::kReal},
    {"float", DataType::kReal},
    {"number", DataType::kReal},
    {"vutf8", DataType::kCstring},
    {"text", DataType::kCstring},
    {"string", DataType::kCstring},
    {"byte", DataType::kBlob},
    {"datetimeus", DataType::kDatetime},
    {"intervaldsus", DataType::kIntervalDs},
    {"decimal32", DataType::kDecimal},
    {"decimal64", DataType::kDecimal},
    {"decimal128", DataType::kDecimal},
};

std::unexpected<Status> Cannot(const Value& value, DataType type) {
  std::string shown = TextOf(value, {}, 3);
  constexpr size_t kShown = 40;
  if (shown.size() > kShown) shown = shown.substr(0, kShown) + "...";
  return Fail(Code::kInvalidArgument, "lua.conversion", "cannot convert '{}' to {}", shown,
              NameOf(type));
}

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> Whole(double value) {
  constexpr double kBeyond = 9223372036854775808.0;
  if (!(value >= -kBeyond && value < kBeyond)) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<int64_t> IntOf(const Value& value) {
  if (value.is_int()) return value.AsInt();
  if (value.is_bool()) return value.AsBool() ? 1 : 0;
  if (value.is_number()) return Whole(value.ToDouble());
  if (value.is_datetime()) return value.AsDatetime().us / kSecond;
  if (!value.is_string()) return std::nullopt;
  if (const auto whole = ParseWhole<int64_t>(value.AsString())) return whole;
  const auto real = ParseWhole<double>(value.AsString());
  return real ? Whole(*real) : std::nullopt;
}

std::optional<double> RealOf(const Value& value) {
  if (value.is_number()) return value.ToDouble();
  if (value.is_bool()) return value.AsBool() ? 1 : 0;
  if (value.is_datetime()) return static_cast<double>(value.AsDatetime().us) / kSecond;
  if (value.is_string()) return ParseWhole<double>(value.AsString());
  return std::nullopt;
}

// Microseconds of a number of seconds.
std::optional<int64_t> MicrosecondsOf(const Value& value) {
  int64_t product = 0;
  if (value.is_int()) {
    if (__builtin_mul_overflow(value.AsInt(), kSecond, &product)) return std::nullopt;
    return product;
  }
  return value.is_number() ? Whole(std::round(value.ToDouble() * kSecond)) : std::nullopt;
}

bool TakeSign(std::string_view* text) {
  if (!text->starts_with('-')) return false;
  text->remove_prefix(1);
  return true;
}

// Y-M
std::optional<int64_t> MonthsOf(std::string_view text) {
  const bool negative = TakeSign(&text);
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto years = ParseWhole<int32_t>(text.substr(0, dash));
  const auto months = ParseWhole<int32_t>(text.substr(dash + 1));
  if (!years || !months || *years < 0 || *months < 0) return std::nullopt;
  const int64_t all = int64_t{*years} * 12 + *months;
  return negative ? -all : all;
}

// D H:M:S[.fraction]
std::optional<int64_t> DaySecondOf(std::string_view text) {
  const bool negative = TakeSign(&text);
  const size_t blank = text.find(' ');
  const size_t first = text.find(':');
  const size_t second = text.find(':', first == std::string_view::npos ? first : first + 1);
  if (blank == std::string_view::npos || second == std::string_view::npos || first < blank) {
    return std::nullopt;
  }
  const auto days = ParseWhole<int32_t>(text.substr(0, blank));
  const auto hours = ParseWhole<int32_t>(text.substr(blank + 1, first - blank - 1));
  const auto minutes = ParseWhole<int32_t>(text.substr(first + 1, second - first - 1));
  const auto seconds = ParseWhole<double>(text.substr(second + 1));
  if (!days || !hours || !minutes || !seconds || *days < 0 || *hours < 0 || *minutes < 0 ||
      !(*seconds >= 0 && *seconds < 1e9)) {
    return std::nullopt;
  }
  constexpr int32_t kMost = 10'000'000;  // of each, so that the sum fits
  if (*days > kMost || *hours > kMost || *minutes > kMost) return std::nullopt;
  const int64_t all = *days * kDay + *hours * kHour + *minutes * kMinute +
                      static_cast<int64_t>(std::round(*seconds * kSecond));
  return negative ? -all : all;
}

std::optional<Value> DatetimeValue(const Value& value, const Zone& zone) {
  if (value.is_string()) {
    const auto parsed = ParseDatetime(value.AsString(), zone);
    return parsed ? std::optional<Value>(*parsed) : std::nullopt;
  }
  const auto us = MicrosecondsOf(value);
  return us ? std::optional<Value>(json::Datetime{*us}) : std::nullopt;
}

std::optional<Value> IntervalValue(const Value& value, json::Interval::Kind kind) {
  const bool months = kind == json::Interval::Kind::kYearMonth;
  std::optional<int64_t> amount;
  if (value.is_interval() && value.AsInterval().kind == kind) return value;
  if (value.is_number()) amount = months ? IntOf(value) : MicrosecondsOf(value);
  if (value.is_string()) {
    amount = months ? MonthsOf(value.AsString()) : DaySecondOf(value.AsString());
  }
  if (!amount) return std::nullopt;
  return Value(json::Interval{.kind = kind, .amount = *amount});
}

std::optional<Value> DecimalValue(const Value& value) {
  std::optional<json::Decimal> decimal;
  if (value.is_number()) decimal = DecimalOf(value);
  if (value.is_string()) {
    if (auto parsed = json::Decimal::Parse(value.AsString())) decimal = *parsed;
  }
  return decimal ? std::optional<Value>(*decimal) : std::nullopt;
}

template <typename T>
std::optional<Value> AsValue(std::optional<T> value) {
  return value ? std::optional<Value>(*value) : std::nullopt;
}

std::optional<Value> TryConvert(const Value& value, DataType type, const Zone& zone) {
  switch (type) {
    case DataType::kInt:
      return AsValue(IntOf(value));
    case DataType::kReal:
      return AsValue(RealOf(value));
    case DataType::kCstring:
      if (value.is_array() || value.is_object()) return std::nullopt;
      return Value(TextOf(value, zone, 3));
    case DataType::kBlob:
      return value.is_string() ? std::optional<Value>(Value::Bytes(value.AsString()))
                               : std::nullopt;
    case DataType::kDatetime:
      return DatetimeValue(value, zone);
    case DataType::kIntervalYm:
      return IntervalValue(value, json::Interval::Kind::kYearMonth);
    case DataType::kIntervalDs:
      return IntervalValue(value, json::Interval::Kind::kDaySecond);
    case DataType::kDecimal:
      return DecimalValue(value);
  }
  return std::nullopt;
}

std::string IntervalText(json::Interval interval) {
  const char* const sign = interval.amount < 0 ? "-" : "";
  const uint64_t amount = interval.amount < 0 ? 0 - static_cast<uint64_t>(interval.amount)
                                              : static_cast<uint64_t>(interval.amount);
  if (interval.kind == json::Interval::Kind::kYearMonth) {
    return fmt::format("{}{}-{}", sign, amount / 12, amount % 12);
  }
  const uint64_t us = amount % kSecond;
  const std::string fraction =
      us % 1000 == 0 ? fmt::format("{:03}", us / 1000) : fmt::format("{:06}", us);
  return fmt::format("{}{} {:02}:{:02}:{:02}.{}", sign, amount / kDay, amount / kHour % 24,
                     amount / kMinute % 60, amount / kSecond % 60, fraction);
}

std::string HexOf(std::string_view bytes) {
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

}  // namespace

std::string_view NameOf(DataType type) { return kNames[static_cast<size_t>(type)].first; }

std::optional<DataType> DataTypeNamed(std::string_view name) {
  const std::string_view base = name.substr(0, name.find_first_of("(["));
  for (const auto& [known, type] : kNames) {
    if (known == base) return type;
  }
  return std::nullopt;
}

std::optional<DataType> DataTypeOf(const Value& value) {
  switch (value.type()) {
    case json::Type::kInt:
      return DataType::kInt;
    case json::Type::kDouble:
      return DataType::kReal;
    case json::Type::kDecimal:
      return DataType::kDecimal;
    case json::Type::kDatetime:
      return DataType::kDatetime;
    case json::Type::kInterval:
      return value.AsInterval().kind == json::Interval::Kind::kYearMonth ? DataType::kIntervalYm
                                                                         : DataType::kIntervalDs;
    case json::Type::kString:
      return DataType::kCstring;
    case json::Type::kBytes:
      return DataType::kBlob;
    default:
      return std::nullopt;
  }
}

Result<Value> Convert(const Value& value, DataType type, const Zone& zone) {
  if (value.is_null() || value.is_missing()) return Value(nullptr);
  if (DataTypeOf(value) == type) return value;
  std::optional<Value> converted = TryConvert(value, type, zone);
  if (!converted) return Cannot(value, type);
  return std::move(*converted);
}

std::string TextOf(const Value& value, const Zone& zone, int datetime_digits) {
  switch (value.type()) {
    case json::Type::kMissing:
      return "nil";
    case json::Type::kNull:
      return "NULL";
    case json::Type::kString:
      return std::string(value.AsString());
    case json::Type::kBytes:
      return HexOf(value.AsBytes());
    case json::Type::kDatetime:
      return DatetimeText(value.AsDatetime(), zone, datetime_digits);
    case json::Type::kInterval:
      return IntervalText(value.AsInterval());
    case json::Type::kDecimal:
      return value.AsDecimal().ToString();
    default:
      return json::ToText(value);
  }
}

std::optional<json::Decimal> DecimalOf(const Value& number) {
  if (number.is_decimal()) return number.AsDecimal();
  if (number.is_double() && !std::isfinite(number.AsDouble())) return std::nullopt;
  auto parsed = json::Decimal::Parse(json::ToText(number));
  return parsed ? std::optional<json::Decimal>(*parsed) : std::nullopt;
}

}  // namespace sluice::lua
