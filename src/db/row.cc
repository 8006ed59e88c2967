#include "db/row.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "db/datetime_text.h"
#include "json/decimal.h"
#include "json/number.h"
#include "json/print.h"

namespace sluice::db {
namespace {

using json::Value;

constexpr size_t kShownBytes = 40;
constexpr int64_t kSecondUs = 1'000'000;
constexpr int64_t kMaxDatetimeSeconds = 253'402'300'799;  // the end of the year 9999
constexpr int64_t kMinDatetimeSeconds = -62'167'219'200;  // the start of the year 0

// The text of a value for messages, cut short.
std::string Shown(const Value& value) {
  std::string text = value.is_bytes() ? "x'" + ToHex(value.AsBytes()) + "'" : json::ToText(value);
  if (text.size() <= kShownBytes) return text;
  size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Converts one value for one column.
class Converter {
 public:
  Converter(const TableSchema& schema, const TableColumn& column, const Value& value)
      : schema_(schema), column_(column), value_(value) {}

  Result<Value> Run() const {
    if (value_.is_missing() || value_.is_null()) {
      if (!column_.not_null) return Value(nullptr);
      return Fail(Code::kInvalidArgument, "table.not_null", "{} can't be NULL", Column());
    }
    switch (column_.type) {
      case ColumnType::kShort:
        return Integer(INT16_MIN, INT16_MAX);
      case ColumnType::kUnsignedShort:
        return Integer(0, UINT16_MAX);
      case ColumnType::kInt:
        return Integer(INT32_MIN, INT32_MAX);
      case ColumnType::kUnsignedInt:
        return Integer(0, UINT32_MAX);
      case ColumnType::kLongLong:
        return Integer(INT64_MIN, INT64_MAX);
      case ColumnType::kUnsignedLongLong:
        return UnsignedLongLong();
      case ColumnType::kFloat:
      case ColumnType::kDouble:
        return Real();
      case ColumnType::kCString:
      case ColumnType::kVutf8:
        return Text();
      case ColumnType::kByte:
      case ColumnType::kBlob:
        return Bytes();
      case ColumnType::kDatetime:
      case ColumnType::kDatetimeUs:
        return Datetime();
      case ColumnType::kIntervalYm:
        return IntervalYm();
      case ColumnType::kIntervalDs:
      case ColumnType::kIntervalDsUs:
        return IntervalDs();
      case ColumnType::kDecimal32:
        return Decimal(7);
      case ColumnType::kDecimal64:
        return Decimal(16);
      case ColumnType::kDecimal128:
        return Decimal(34);
    }
    return Unexpected(NoConversion());
  }

 private:
  std::string Column() const {
    return fmt::format("column '{}' of table '{}' ({})", column_.name, schema_.name,
                       column_.TypeText());
  }
  Status NoConversion() const {
    return Error(Code::kInvalidArgument, "table.conversion", "{} can't take the {} {}", Column(),
                 json::TypeName(value_.type()), Shown(value_));
  }
  Status OutOfRange() const {
    return Error(Code::kInvalidArgument, "table.out_of_range",
                 "{} can't hold {}: it is out of range", Column(), Shown(value_));
  }

  // The number that a value is, or that its text reads as. Seconds of a time, months of a
  // year-month interval.
  Result<Value> Number() const {
    if (value_.is_number()) return value_;
    if (value_.is_bool()) return Value(value_.AsBool() ? 1 : 0);
    if (value_.is_datetime()) return Seconds(value_.AsDatetime().us);
    if (value_.is_interval()) {
      const json::Interval interval = value_.AsInterval();
      if (interval.kind == json::Interval::Kind::kYearMonth) return Value(interval.amount);
      return Seconds(interval.amount);
    }
    if (value_.is_string()) {
      std::string_view text = value_.AsString();
      if (text.starts_with('+')) text.remove_prefix(1);
      if (!text.empty() && json::NumberLength(text) == text.size()) {
        return json::NumberFromLiteral(text);
      }
    }
    return Unexpected(NoConversion());
  }

  static Value Seconds(int64_t us) {
    if (us % kSecondUs == 0) return us / kSecondUs;
    return static_cast<double>(us) / kSecondUs;
  }

  Result<Value> Integer(int64_t least, int64_t most) const {
    ASSIGN_OR_RETURN(const Value number, Number());
    if (!number.is_int()) {
      const double whole = std::trunc(number.ToDouble());
      // 2^63 is the first double beyond int64.
      if (!(whole >= -0x1p63 && whole < 0x1p63)) return Unexpected(OutOfRange());
      return InRange(static_cast<int64_t>(whole), least, most);
    }
    return InRange(number.AsInt(), least, most);
  }

  Result<Value> InRange(int64_t number, int64_t least, int64_t most) const {
    if (number < least || number > most) return Unexpected(OutOfRange());
    return Value(number);
  }

  Result<Value> UnsignedLongLong() const {
    ASSIGN_OR_RETURN(const Value number, Number());
    if (number.is_int()) return InRange(number.AsInt(), 0, INT64_MAX);
    const std::string_view literal = number.literal();
    if (!literal.empty() && literal.find_first_not_of("0123456789") == std::string_view::npos) {
      unsigned __int128 whole = 0;
      for (const char c : literal) {
        whole = whole * 10 + static_cast<unsigned>(c - '0');
        if (whole > UINT64_MAX) return Unexpected(OutOfRange());
      }
      return Value::Unsigned(static_cast<uint64_t>(whole));
    }
    const double whole = std::trunc(number.ToDouble());
    if (!(whole >= 0 && whole < 0x1p64)) return Unexpected(OutOfRange());
    return Value::Unsigned(static_cast<uint64_t>(whole));
  }

  // Of a text: "nan", "inf", "-Infinity".
  bool IsNotFinite() const {
    if (!value_.is_string()) return false;
    const std::string text(value_.AsString());
    char* end = nullptr;
    const double real = std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == '\0' && !std::isfinite(real);
  }

  Result<Value> Real() const {
    if (IsNotFinite()) {
      return Fail(Code::kInvalidArgument, "table.out_of_range",
                  "{} can't hold {}: columns hold finite numbers, not nan and no infinity",
                  Column(), Shown(value_));
    }
    ASSIGN_OR_RETURN(const Value number, Number());
    const double real = number.ToDouble();
    if (!std::isfinite(real)) return Unexpected(OutOfRange());
    if (column_.type == ColumnType::kDouble) return Value(real);
    if (std::abs(real) > std::numeric_limits<float>::max()) return Unexpected(OutOfRange());
    return Value(static_cast<double>(static_cast<float>(real)));
  }

  Result<Value> Text() const {
    std::string text;
    if (value_.is_string()) {
      text = value_.AsString();
    } else if (value_.is_datetime()) {
      text = FormatDatetime(value_.AsDatetime(), "UTC", value_.AsDatetime().us % 1000 == 0 ? 3 : 6);
    } else if (value_.is_interval()) {
      text = FormatInterval(value_.AsInterval());
    } else if (value_.is_number()) {
      text = json::ToText(value_);
    } else {
      return Unexpected(NoConversion());
    }
    if (column_.length != 0 && text.size() > column_.length) {
      return Fail(Code::kInvalidArgument, "table.too_long", "{} can't hold {}: it has {} bytes",
                  Column(), Shown(value_), text.size());
    }
    if (column_.type == ColumnType::kCString && text.find('\0') != std::string::npos) {
      return Unexpected(NoConversion());
    }
    return Value(text);
  }

  Result<Value> Bytes() const {
    if (!value_.is_bytes()) return Unexpected(NoConversion());
    const size_t size = value_.AsBytes().size();
    const bool exact = column_.type == ColumnType::kByte;
    if (column_.length != 0 && (exact ? size != column_.length : size > column_.length)) {
      return Fail(Code::kInvalidArgument, "table.too_long", "{} can't hold {}: it has {} bytes",
                  Column(), Shown(value_), size);
    }
    return Value(ToHex(value_.AsBytes()));
  }

  // A number of seconds as microseconds.
  Result<int64_t> Microseconds() const {
    ASSIGN_OR_RETURN(const Value number, Number());
    const double seconds = number.ToDouble();
    if (!(seconds >= static_cast<double>(kMinDatetimeSeconds) &&
          seconds <= static_cast<double>(kMaxDatetimeSeconds))) {
      return Unexpected(OutOfRange());
    }
    if (number.is_int()) return number.AsInt() * kSecondUs;
    return std::llround(seconds * kSecondUs);
  }

  Result<Value> Datetime() const {
    json::Datetime moment;
    if (value_.is_datetime()) {
      moment = value_.AsDatetime();
    } else if (value_.is_string()) {
      const auto parsed = ParseDatetime(value_.AsString());
      if (!parsed) return Unexpected(NoConversion());
      moment = *parsed;
    } else if (value_.is_number()) {
      ASSIGN_OR_RETURN(moment.us, Microseconds());
    } else {
      return Unexpected(NoConversion());
    }
    if (moment.us < kMinDatetimeSeconds * kSecondUs ||
        moment.us >= (kMaxDatetimeSeconds + 1) * kSecondUs) {
      return Unexpected(OutOfRange());
    }
    return Value(StoredDatetime(moment, column_.type == ColumnType::kDatetime ? 3 : 6));
  }

  // 2019-12-19T13:14:22.330Z, always with as many digits: the texts sort as the moments do.
  static std::string StoredDatetime(json::Datetime moment, int digits) {
    std::string text = FormatDatetime(moment, "UTC", digits);
    text.resize(text.size() - 4);  // " UTC"
    constexpr size_t kHourEnd = 13;
    text.insert(kHourEnd, ":");
    text.insert(kHourEnd + 3, ":");
    return text + "Z";
  }

  Result<Value> IntervalYm() const {
    if (value_.is_string()) {
      if (const auto parsed = ParseIntervalYm(value_.AsString())) return Value(parsed->amount);
    }
    const bool other =
        value_.is_datetime() ||
        (value_.is_interval() && value_.AsInterval().kind != json::Interval::Kind::kYearMonth);
    if (other) return Unexpected(NoConversion());
    return Integer(INT32_MIN, INT32_MAX);
  }

  Result<Value> IntervalDs() const {
    int64_t us = 0;
    const auto parsed = value_.is_string() ? ParseIntervalDs(value_.AsString()) : std::nullopt;
    if (parsed) {
      us = parsed->amount;
    } else if (value_.is_interval() &&
               value_.AsInterval().kind == json::Interval::Kind::kDaySecond) {
      us = value_.AsInterval().amount;
    } else if (value_.is_interval() || value_.is_datetime()) {
      return Unexpected(NoConversion());
    } else {
      ASSIGN_OR_RETURN(us, Microseconds());
    }
    if (column_.type == ColumnType::kIntervalDs) us -= us % 1000;
    return Value(us);
  }

  Result<Value> Decimal(int digits) const {
    ASSIGN_OR_RETURN(const Value number, Number());
    Result<json::Decimal> decimal = json::Decimal::Parse(json::ToText(number));
    if (!decimal) return Unexpected(OutOfRange());
    Round(&*decimal, digits);
    return Value(*decimal);
  }

  // Halves go to the even neighbour.
  static void Round(json::Decimal* decimal, int digits) {
    unsigned __int128 limit = 1;
    for (int i = 0; i < digits; ++i) limit *= 10;
    bool sticky = false;
    while (decimal->coefficient >= limit) {
      const auto last = static_cast<int>(decimal->coefficient % 10);
      decimal->coefficient /= 10;
      ++decimal->exponent;
      const bool final = decimal->coefficient < limit;
      const bool odd = decimal->coefficient % 2 == 1;
      if (final && (last > 5 || (last == 5 && (sticky || odd)))) ++decimal->coefficient;
      sticky = sticky || last != 0;
    }
  }

  const TableSchema& schema_;
  const TableColumn& column_;
  const Value& value_;
};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

Value BytesOfHex(const Value& stored) {
  if (!stored.is_string()) return nullptr;
  const std::string_view hex = stored.AsString();
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]);
    const int low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) return nullptr;
    bytes += static_cast<char>(high << 4 | low);
  }
  return Value::Bytes(bytes);
}

Value IntervalOf(json::Interval::Kind kind, const Value& stored) {
  if (!stored.is_int()) return nullptr;
  return json::Interval{kind, stored.AsInt()};
}

}  // namespace

Result<Value> StoreColumn(const TableSchema& schema, const TableColumn& column,
                          const Value& value) {
  return Converter(schema, column, value).Run();
}

bool IsStoredAsIs(ColumnType type) { return type < ColumnType::kByte; }

Value LoadColumn(ColumnType type, const Value& stored) {
  if (stored.is_missing() || stored.is_null()) return nullptr;
  switch (type) {
    case ColumnType::kByte:
    case ColumnType::kBlob:
      return BytesOfHex(stored);
    case ColumnType::kDatetime:
    case ColumnType::kDatetimeUs: {
      const auto moment = stored.is_string() ? ParseDatetime(stored.AsString()) : std::nullopt;
      return moment ? Value(*moment) : Value(nullptr);
    }
    case ColumnType::kIntervalYm:
      return IntervalOf(json::Interval::Kind::kYearMonth, stored);
    case ColumnType::kIntervalDs:
    case ColumnType::kIntervalDsUs:
      return IntervalOf(json::Interval::Kind::kDaySecond, stored);
    case ColumnType::kDecimal32:
    case ColumnType::kDecimal64:
    case ColumnType::kDecimal128: {
      const auto decimal = json::Decimal::Parse(json::ToText(stored));
      return decimal ? Value(*decimal) : Value(nullptr);
    }
    default:
      return stored;
  }
}

std::string RowText(const TableSchema& schema, std::span<const Value> stored) {
  std::string text = "{";
  for (size_t i = 0; i < stored.size(); ++i) {
    if (i > 0) text += ',';
    json::AppendQuoted(schema.columns[i].name, &text);
    text += ':';
    json::Print(stored[i], &text);
  }
  return text + "}";
}

std::string RowKeyOf(Cas stamp) { return fmt::format("{:016x}", stamp); }

}  // namespace sluice::db
