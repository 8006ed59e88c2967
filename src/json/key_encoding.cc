// The bytes of an ascending part; a descending part has every bit inverted.
//
//   part     := tag content
//   missing 10 | null 18 | false 20 | true 21        no content
//   number 28    floor residual
//   datetime 30  int64
//   interval 38  kind (00 year-month, 01 day-second) int64
//   string 40    text
//   array 50     part* 01
//   object 60    count:u32 (text part)*              fields sorted by name
//   binary 70    text
//
//   int64    := eight bytes, big-endian, sign bit inverted
//   text     := bytes with 00 written as 00 ff, then 00 01
//   floor    := the largest double that is not above the number: eight bytes, big-endian, sign bit
//               inverted if positive, all bits if negative; -0 is 0, NaN is all zeros
//   residual := 00 if the number is that double, else 01 point digits 00; point and all that
//               follows inverted if the number is negative
//   point    := int16 p, big-endian, sign bit inverted, where the number is 0.DIGITS * 10^p
//   digits   := one byte 1 + (00..99) for each two decimal digits, no trailing zeros
//
// Invariants:
// 1. Tags ascend in the order of types and every tag is above 01, so a shorter array is less.
// 2. Numbers with the same floor have the same sign, so residuals of both signs never meet.
// 3. Equal values have equal bytes, whatever kind of number they are.
#include "json/key_encoding.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "json/compare.h"
#include "json/number.h"

namespace sluice::json {
namespace {

enum Tag : uint8_t {
  kEndOfArray = 0x01,
  kMissing = 0x10,
  kNull = 0x18,
  kFalse = 0x20,
  kTrue = 0x21,
  kNumber = 0x28,
  kDatetime = 0x30,
  kInterval = 0x38,
  kString = 0x40,
  kArray = 0x50,
  kObject = 0x60,
  kBinary = 0x70,
};

constexpr uint64_t kSign64 = uint64_t{1} << 63;
constexpr uint16_t kSign16 = 0x8000;
constexpr char kEscaped = '\xff';
constexpr char kEndOfText = '\x01';
constexpr int64_t kExactInts = int64_t{1} << 53;  // all up to here are doubles

bool IsExact(int64_t value) { return value >= -kExactInts && value <= kExactInts; }

uint64_t OrderedBits(double value) {
  if (std::isnan(value)) return 0;
  const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return (bits & kSign64) != 0 ? ~bits : bits | kSign64;
}

double FromOrderedBits(uint64_t ordered) {
  if (ordered == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>((ordered & kSign64) != 0 ? ordered & ~kSign64 : ~ordered);
}

void AppendInt(int64_t value, std::string* out) {
  AppendU64(out, static_cast<uint64_t>(value) ^ kSign64);
}

void AppendText(std::string_view text, std::string* out) {
  for (size_t at = 0;;) {
    const size_t zero = std::min(text.find('\0', at), text.size());
    out->append(text, at, zero - at);
    *out += '\0';
    if (zero == text.size()) break;
    *out += kEscaped;
    at = zero + 1;
  }
  *out += kEndOfText;
}

void Invert(std::string* out, size_t from) {
  for (size_t i = from; i < out->size(); ++i) (*out)[i] = static_cast<char>(~(*out)[i]);
}

void AppendResidual(const ExactDigits& number, std::string* out) {
  const size_t start = out->size();
  AppendU16(out, static_cast<uint16_t>(number.point) ^ kSign16);
  const std::string& digits = number.digits;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int low = i + 1 < digits.size() ? digits[i + 1] - '0' : 0;
    AppendU8(out, static_cast<uint8_t>(1 + (digits[i] - '0') * 10 + low));
  }
  AppendU8(out, 0);
  if (number.negative) Invert(out, start);
}

void AppendNumber(const Value& value, std::string* out) {
  if (value.is_double() || (value.is_int() && IsExact(value.AsInt()))) {
    AppendU64(out, OrderedBits(value.ToDouble()));
    AppendU8(out, 0);
    return;
  }
  const Value nearest(value.ToDouble());
  const bool above = Compare(nearest, value) > 0;
  const double floor = above ? std::nextafter(nearest.AsDouble(), -INFINITY) : nearest.AsDouble();
  AppendU64(out, OrderedBits(floor));
  if (!above && nearest == value) {
    AppendU8(out, 0);
    return;
  }
  AppendU8(out, 1);
  AppendResidual(
      value.is_int() ? ExactDigits::Of(value.AsInt()) : ExactDigits::Of(value.AsDecimal()), out);
}

Status TooDeep() {
  return Error(Code::kInvalidArgument, "key.too_deep",
               "a value nested more than {} levels deep can't be a key", kMaxDepth);
}

Status AppendPart(const Value& value, int depth, std::string* out);

Status AppendArray(const Value& value, int depth, std::string* out) {
  if (depth >= kMaxDepth) return TooDeep();
  AppendU8(out, kArray);
  for (const Value& item : value.items()) RETURN_IF_ERROR(AppendPart(item, depth + 1, out));
  AppendU8(out, kEndOfArray);
  return OkStatus();
}

Status AppendObject(const Value& value, int depth, std::string* out) {
  if (depth >= kMaxDepth) return TooDeep();
  AppendU8(out, kObject);
  AppendU32(out, static_cast<uint32_t>(value.size()));
  for (const Field* field : SortedFields(value)) {
    AppendText(field->name(), out);
    RETURN_IF_ERROR(AppendPart(field->value, depth + 1, out));
  }
  return OkStatus();
}

Status AppendPart(const Value& value, int depth, std::string* out) {
  switch (value.type()) {
    case Type::kMissing:
      AppendU8(out, kMissing);
      break;
    case Type::kNull:
      AppendU8(out, kNull);
      break;
    case Type::kBool:
      AppendU8(out, value.AsBool() ? kTrue : kFalse);
      break;
    case Type::kInt:
    case Type::kDouble:
    case Type::kDecimal:
      AppendU8(out, kNumber);
      AppendNumber(value, out);
      break;
    case Type::kDatetime:
      AppendU8(out, kDatetime);
      AppendInt(value.AsDatetime().us, out);
      break;
    case Type::kInterval:
      AppendU8(out, kInterval);
      AppendU8(out, static_cast<uint8_t>(value.AsInterval().kind));
      AppendInt(value.AsInterval().amount, out);
      break;
    case Type::kString:
      AppendU8(out, kString);
      AppendText(value.AsString(), out);
      break;
    case Type::kBytes:
      AppendU8(out, kBinary);
      AppendText(value.AsBytes(), out);
      break;
    case Type::kArray:
      return AppendArray(value, depth, out);
    case Type::kObject:
      return AppendObject(value, depth, out);
  }
  return OkStatus();
}

// Reads ascending bytes, or descending ones by inverting each.
class PartReader {
 public:
  PartReader(std::string_view bytes, Direction direction)
      : bytes_(bytes), mask_(direction == Direction::kAscending ? 0 : 0xff) {}

  // False if the bytes are not a part.
  bool Read(Value* out, int depth) {
    uint64_t bits = 0;
    switch (Byte()) {
      case kMissing:
        *out = Value();
        return ok_;
      case kNull:
        *out = Value(nullptr);
        return ok_;
      case kFalse:
        *out = Value(false);
        return ok_;
      case kTrue:
        *out = Value(true);
        return ok_;
      case kNumber:
        return ReadNumber(out);
      case kDatetime:
        bits = Big(8);
        *out = Value(Datetime{static_cast<int64_t>(bits ^ kSign64)});
        return ok_;
      case kInterval:
        return ReadInterval(out);
      case kString:
        return ReadText(out);
      case kBinary:
        if (!ReadText(out)) return false;
        *out = Value::Bytes(out->AsString());
        return true;
      case kArray:
        return ReadArray(out, depth);
      case kObject:
        return ReadObject(out, depth);
      default:
        return false;
    }
  }

  size_t consumed() const { return at_; }

 private:
  uint8_t Byte() {
    if (at_ == bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return static_cast<uint8_t>(bytes_[at_++]) ^ mask_;
  }

  uint64_t Big(int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; ++i) value = value << 8 | Byte();
    return value;
  }

  bool ReadInterval(Value* out) {
    const uint8_t kind = Byte();
    if (kind > 1) return false;
    *out =
        Value(Interval{static_cast<Interval::Kind>(kind), static_cast<int64_t>(Big(8) ^ kSign64)});
    return ok_;
  }

  bool ReadText(Value* out) {
    std::string text;
    while (true) {
      const char c = static_cast<char>(Byte());
      if (!ok_) return false;
      if (c != '\0') {
        text += c;
        continue;
      }
      const char next = static_cast<char>(Byte());
      if (next == kEndOfText) break;
      if (next != kEscaped) return false;
      text += '\0';
    }
    *out = Value(text);
    return ok_;
  }

  bool ReadNumber(Value* out) {
    const double floor = FromOrderedBits(Big(8));
    const uint8_t exact = Byte();
    if (!ok_ || exact > 1) return false;
    if (exact == 1) return !std::isnan(floor) && ReadResidual(std::signbit(floor), out);
    const bool whole = floor >= -kTwoTo63 && floor < kTwoTo63 && floor == std::trunc(floor);
    *out = whole ? Value(static_cast<int64_t>(floor)) : Value(floor);
    return true;
  }

  bool ReadResidual(bool negative, Value* out) {
    const uint8_t outer = mask_;
    if (negative) mask_ = static_cast<uint8_t>(~mask_);
    const auto point = static_cast<int16_t>(static_cast<uint16_t>(Big(2)) ^ kSign16);
    Decimal number{.coefficient = 0, .exponent = point, .negative = negative};
    int digits = 0;
    uint8_t pair = Byte();
    for (; pair >= 1 && pair <= 100 && digits < Decimal::kMaxDigits; pair = Byte(), digits += 2) {
      number.coefficient = number.coefficient * 100 + (pair - 1u);
    }
    mask_ = outer;
    number.exponent -= digits;
    if (number.coefficient % 10 == 0) {  // the filler of an odd number of digits
      number.coefficient /= 10;
      ++number.exponent;
    }
    if (!ok_ || pair != 0 || number.coefficient == 0) return false;
    return SetExact(number, out);
  }

  static bool SetExact(Decimal number, Value* out) {
    if (number.exponent < Decimal::kMinExponent) return false;
    unsigned __int128 whole = number.coefficient;
    int32_t exponent = number.exponent;
    constexpr auto kMaxWhole = static_cast<unsigned __int128>(INT64_MAX);
    while (exponent > 0 && whole <= kMaxWhole) {
      whole *= 10;
      --exponent;
    }
    if (exponent == 0 && whole <= kMaxWhole + (number.negative ? 1 : 0)) {
      const auto magnitude = static_cast<uint64_t>(whole);
      *out = Value(static_cast<int64_t>(number.negative ? -magnitude : magnitude));
      return true;
    }
    // An exponent above the range is one that trailing zeros of the coefficient had lowered.
    constexpr auto kLimit = static_cast<unsigned __int128>(1'000'000'000'000'000'000) *
                            10'000'000'000'000'000;  // 10^34
    for (; number.exponent > Decimal::kMaxExponent; --number.exponent) {
      number.coefficient *= 10;
      if (number.coefficient >= kLimit) return false;
    }
    *out = Value(number);
    return true;
  }

  bool ReadArray(Value* out, int depth) {
    if (depth >= kMaxDepth) return false;
    Value array = Value::EmptyArray();
    while (true) {
      if (at_ == bytes_.size()) return false;
      if ((static_cast<uint8_t>(bytes_[at_]) ^ mask_) == kEndOfArray) break;
      Value item;
      if (!Read(&item, depth + 1)) return false;
      array.Append(std::move(item));
    }
    ++at_;
    *out = std::move(array);
    return true;
  }

  bool ReadObject(Value* out, int depth) {
    if (depth >= kMaxDepth) return false;
    Value object = Value::EmptyObject();
    for (uint64_t left = Big(4); left > 0; --left) {
      Value name, value;
      if (!ReadText(&name) || !Read(&value, depth + 1)) return false;
      object.Set(name.AsString(), std::move(value));
    }
    *out = std::move(object);
    return ok_;
  }

  const std::string_view bytes_;
  uint8_t mask_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

Status AppendKeyPart(const Value& value, Direction direction, std::string* out) {
  const size_t start = out->size();
  if (Status status = AppendPart(value, 0, out); !status.ok()) {
    out->resize(start);
    return status;
  }
  if (direction == Direction::kDescending) Invert(out, start);
  return OkStatus();
}

Result<Value> TakeKeyPart(std::string_view* key, Direction direction) {
  PartReader reader(*key, direction);
  Value value;
  if (!reader.Read(&value, 0)) {
    return Fail(Code::kCorruption, "key.corrupt", "an index key is damaged: {}",
                ToHex(key->substr(0, 32)));
  }
  key->remove_prefix(reader.consumed());
  return value;
}

}  // namespace sluice::json
