#include "json/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "json/hash.h"
#include "json/number.h"

namespace sluice::json {
namespace {

// Types that compare with each other have the same rank.
int Rank(const Value& value) {
  const Type type = value.type();
  return value.is_number() ? static_cast<int>(Type::kInt) : static_cast<int>(type);
}

std::strong_ordering CompareDoubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) <=> std::isnan(a);
  return a < b   ? std::strong_ordering::less
         : a > b ? std::strong_ordering::greater
                 : std::strong_ordering::equal;
}

std::strong_ordering CompareIntDouble(int64_t a, double b) {
  if (std::isnan(b)) return std::strong_ordering::greater;
  if (b >= kTwoTo63) return std::strong_ordering::less;
  if (b < -kTwoTo63) return std::strong_ordering::greater;
  const auto whole = static_cast<int64_t>(b);  // towards zero
  if (a != whole) return a <=> whole;
  return CompareDoubles(0, b - static_cast<double>(whole));
}

std::strong_ordering CompareDecimalDouble(const Decimal& a, double b) {
  if (std::isnan(b)) return std::strong_ordering::greater;
  if (std::isinf(b)) return CompareDoubles(0, b);
  // Rounding to the nearest keeps order, so only a tie has to be looked at digit by digit.
  const auto rounded = CompareDoubles(NearestDouble(a), b);
  return rounded != 0 ? rounded : ExactDigits::Of(a) <=> ExactDigits::Of(b);
}

std::strong_ordering CompareNumbers(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.AsInt() <=> b.AsInt();
  if (a.is_double() && b.is_double()) return CompareDoubles(a.AsDouble(), b.AsDouble());
  if (a.is_int() && b.is_double()) return CompareIntDouble(a.AsInt(), b.AsDouble());
  if (a.is_decimal() && b.is_double()) return CompareDecimalDouble(a.AsDecimal(), b.AsDouble());
  if (a.is_double()) return 0 <=> CompareNumbers(b, a);
  const auto digits = [](const Value& value) {
    return value.is_int() ? ExactDigits::Of(value.AsInt()) : ExactDigits::Of(value.AsDecimal());
  };
  return digits(a) <=> digits(b);
}

std::strong_ordering CompareText(std::string_view a, std::string_view b) {
  return a.compare(b) <=> 0;
}

std::strong_ordering CompareArrays(std::span<const Value> a, std::span<const Value> b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (const auto order = Compare(a[i], b[i]); order != 0) return order;
  }
  return a.size() <=> b.size();
}

std::strong_ordering CompareObjects(const Value& a, const Value& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  const auto left = SortedFields(a);
  const auto right = SortedFields(b);
  for (size_t i = 0; i < left.size(); ++i) {
    if (const auto order = CompareText(left[i]->name(), right[i]->name()); order != 0) return order;
    if (const auto order = Compare(left[i]->value, right[i]->value); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

bool EqualObjects(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  const auto left = a.fields();
  const auto right = b.fields();
  for (size_t i = 0; i < left.size(); ++i) {
    // Most often the fields are in the same order.
    const bool in_place = left[i].name() == right[i].name();
    const Value* other = in_place ? &right[i].value : b.Find(left[i].name());
    if (other == nullptr || !Equal(left[i].value, *other)) return false;
  }
  return true;
}

uint64_t HashDouble(double value) {
  if (std::isnan(value)) return HashBytes("nan");
  if (value >= -kTwoTo63 && value < kTwoTo63 && value == std::trunc(value)) {
    return HashMix(static_cast<uint64_t>(static_cast<int64_t>(value)), 1);
  }
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return HashMix(bits, 2);
}

// A decimal that equals an int64 or a double must hash as that does.
uint64_t HashDecimal(const Decimal& value) {
  const ExactDigits digits = ExactDigits::Of(value);
  const double nearest = NearestDouble(value);
  if (std::isfinite(nearest) && ExactDigits::Of(nearest) == digits) return HashDouble(nearest);
  if (nearest >= -kTwoTo63 && nearest <= kTwoTo63) {
    // Not a double, so it lies strictly between two of them; it may still be a whole number.
    const auto size = static_cast<int32_t>(digits.digits.size());
    if (size <= digits.point) {
      uint64_t whole = 0;
      for (const char c : digits.digits) whole = whole * 10 + static_cast<uint64_t>(c - '0');
      for (int32_t i = size; i < digits.point; ++i) whole *= 10;
      return HashMix(digits.negative ? -whole : whole, 1);
    }
  }
  return HashMix(HashBytes(digits.digits), static_cast<uint64_t>(digits.point));
}

uint64_t HashNumber(const Value& value) {
  if (value.is_int()) return HashMix(static_cast<uint64_t>(value.AsInt()), 1);
  return value.is_double() ? HashDouble(value.AsDouble()) : HashDecimal(value.AsDecimal());
}

uint64_t HashContent(const Value& value) {
  switch (value.type()) {
    case Type::kMissing:
    case Type::kNull:
      return 0;
    case Type::kBool:
      return value.AsBool() ? 1 : 0;
    case Type::kInt:
    case Type::kDouble:
    case Type::kDecimal:
      return HashNumber(value);
    case Type::kDatetime:
      return static_cast<uint64_t>(value.AsDatetime().us);
    case Type::kInterval:
      return HashMix(static_cast<uint64_t>(value.AsInterval().amount),
                     static_cast<uint64_t>(value.AsInterval().kind));
    case Type::kString:
      return HashBytes(value.AsString());
    case Type::kBytes:
      return HashBytes(value.AsBytes());
    case Type::kArray: {
      uint64_t hash = value.size();
      for (const Value& item : value.items()) hash = HashMix(hash, HashValue(item));
      return hash;
    }
    case Type::kObject: {
      uint64_t sum = value.size();  // a sum, because the order of fields does not count
      for (const Field& field : value.fields()) {
        sum += HashMix(HashBytes(field.name()), HashValue(field.value));
      }
      return sum;
    }
  }
  return 0;
}

}  // namespace

std::strong_ordering Compare(const Value& a, const Value& b) {
  if (Rank(a) != Rank(b)) return Rank(a) <=> Rank(b);
  switch (a.type()) {
    case Type::kMissing:
    case Type::kNull:
      return std::strong_ordering::equal;
    case Type::kBool:
      return a.AsBool() <=> b.AsBool();
    case Type::kInt:
    case Type::kDouble:
    case Type::kDecimal:
      return CompareNumbers(a, b);
    case Type::kDatetime:
      return a.AsDatetime() <=> b.AsDatetime();
    case Type::kInterval:
      return a.AsInterval() <=> b.AsInterval();
    case Type::kString:
      return CompareText(a.AsString(), b.AsString());
    case Type::kBytes:
      return CompareText(a.AsBytes(), b.AsBytes());
    case Type::kArray:
      return CompareArrays(a.items(), b.items());
    case Type::kObject:
      return CompareObjects(a, b);
  }
  return std::strong_ordering::equal;
}

bool Equal(const Value& a, const Value& b) {
  if (Rank(a) != Rank(b)) return false;
  if (a.is_array()) return std::ranges::equal(a.items(), b.items(), Equal);
  if (a.is_object()) return EqualObjects(a, b);
  return Compare(a, b) == 0;
}

uint64_t HashValue(const Value& value) {
  return HashMix(HashContent(value), static_cast<uint64_t>(Rank(value)) + 16);
}

}  // namespace sluice::json
