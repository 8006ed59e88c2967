#include "json/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/ascii.h"

namespace sluice::json {
namespace {

// A double has at most 767 significant decimal digits.
constexpr int kMaxDoubleDigits = 767;
// Exponents in text beyond this are out of range whatever the digits are.
constexpr int kMaxTextExponent = 100'000;

std::string DigitsOf(unsigned __int128 value) {
  std::string digits;
  for (; value != 0; value /= 10) digits += static_cast<char>('0' + static_cast<int>(value % 10));
  std::reverse(digits.begin(), digits.end());
  return digits;
}

void DropTrailingZeros(std::string* digits) {
  const size_t last = digits->find_last_not_of('0');
  digits->resize(last == std::string::npos ? 0 : last + 1);
}

std::unexpected<Status> Invalid(std::string_view text, std::string_view why) {
  return Fail(Code::kInvalidArgument, "decimal.invalid", "'{}' is not a decimal number: {}",
              text.substr(0, 64), why);
}

// Reads "e+12" at `rest`, whose exponent ends the text. False if it is malformed.
bool ReadExponent(std::string_view rest, int* exponent) {
  if (rest.empty()) return true;
  if (rest[0] != 'e' && rest[0] != 'E') return false;
  rest.remove_prefix(1);
  if (!rest.empty() && rest[0] == '+') {
    rest.remove_prefix(1);
    if (rest.empty() || !IsDigit(rest[0])) return false;
  }
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), *exponent);
  if (error == std::errc::result_out_of_range) {
    *exponent = rest[0] == '-' ? -kMaxTextExponent : kMaxTextExponent;
  } else if (error != std::errc()) {
    return false;
  }
  *exponent = std::clamp(*exponent, -kMaxTextExponent, kMaxTextExponent);
  return end == rest.data() + rest.size();
}

}  // namespace

Result<Decimal> Decimal::Parse(std::string_view text) {
  std::string_view rest = text;
  Decimal result;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    result.negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  int digits = 0, significant = 0, fraction = 0;
  bool point = false;
  for (; !rest.empty() && (IsDigit(rest[0]) || (rest[0] == '.' && !point)); rest.remove_prefix(1)) {
    if (rest[0] == '.') {
      point = true;
      continue;
    }
    ++digits;
    if (point && ++fraction > kMaxTextExponent) return Invalid(text, "too many digits");
    if (significant > 0 || rest[0] != '0') ++significant;
    if (significant > kMaxDigits) return Invalid(text, "more than 34 digits");
    result.coefficient = result.coefficient * 10 + static_cast<unsigned>(rest[0] - '0');
  }
  if (digits == 0) return Invalid(text, "no digits");
  int exponent = 0;
  if (!ReadExponent(rest, &exponent)) return Invalid(text, "expected digits, '.' or an exponent");
  exponent -= fraction;
  if (result.coefficient == 0) {
    result.negative = false;
    exponent = std::clamp(exponent, kMinExponent, kMaxExponent);
  }
  if (exponent < kMinExponent || exponent > kMaxExponent) {
    return Invalid(text, "its exponent is out of range");
  }
  result.exponent = exponent;
  return result;
}

void Decimal::AppendTo(std::string* out) const {
  if (negative) *out += '-';
  std::string digits = coefficient == 0 ? "0" : DigitsOf(coefficient);
  const int size = static_cast<int>(digits.size());
  const int adjusted = exponent + size - 1;  // the exponent with one digit before the point
  if (exponent <= 0 && adjusted >= -6) {
    if (exponent == 0) {
      *out += digits;
    } else if (adjusted >= 0) {
      *out += digits.insert(static_cast<size_t>(size + exponent), 1, '.');
    } else {
      *out += "0.";
      out->append(static_cast<size_t>(-adjusted - 1), '0');
      *out += digits;
    }
    return;
  }
  if (size > 1) digits.insert(1, 1, '.');
  *out += digits;
  *out += fmt::format("e{}", adjusted);
}

std::string Decimal::ToString() const {
  std::string text;
  AppendTo(&text);
  return text;
}

ExactDigits ExactDigits::Of(int64_t value) {
  const uint64_t magnitude =
      value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return Of(Decimal{.coefficient = magnitude, .exponent = 0, .negative = value < 0});
}

ExactDigits ExactDigits::Of(double value) {
  ExactDigits result;
  if (value == 0) return result;
  char buffer[kMaxDoubleDigits + 16];
  // d.ddde[+-]xxx, exact because no double has more digits.
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value),
                                 std::chars_format::scientific, kMaxDoubleDigits - 1)
                       .ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  result.digits = std::string(text.substr(0, 1)) + std::string(text.substr(2, e - 2));
  DropTrailingZeros(&result.digits);
  const size_t exponent_at = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + exponent_at, end, result.point);
  ++result.point;
  result.negative = value < 0;
  return result;
}

ExactDigits ExactDigits::Of(const Decimal& value) {
  ExactDigits result;
  if (value.coefficient == 0) return result;
  result.digits = DigitsOf(value.coefficient);
  result.point = value.exponent + static_cast<int32_t>(result.digits.size());
  result.negative = value.negative;
  DropTrailingZeros(&result.digits);
  return result;
}

std::strong_ordering ExactDigits::operator<=>(const ExactDigits& other) const {
  const auto sign = [](const ExactDigits& d) { return d.digits.empty() ? 0 : d.negative ? -1 : 1; };
  if (sign(*this) != sign(other)) return sign(*this) <=> sign(other);
  const auto magnitude =
      point != other.point ? point <=> other.point : digits.compare(other.digits) <=> 0;
  return negative ? 0 <=> magnitude : magnitude;
}

double NearestDouble(const Decimal& value) {
  const std::string text = value.ToString();
  double result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error == std::errc::result_out_of_range) {
    const bool huge = ExactDigits::Of(value).point > 0;
    result = huge ? std::numeric_limits<double>::infinity() : 0.0;
    if (value.negative) result = -result;
  }
  return result;
}

}  // namespace sluice::json
