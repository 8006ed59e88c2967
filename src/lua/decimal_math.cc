// Whole numbers as strings of digits, the highest first and without leading zeros: the products
// and shifted sums of 34 digits do not fit into 128 bits.
#include "lua/decimal_math.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice::lua {
namespace {

// A sum whose parts lie further apart than this is the larger part.
constexpr int32_t kWidestGap = 2 * Decimal::kMaxDigits;

std::string DigitsOf(const Decimal& value) {
  std::string digits;
  for (unsigned __int128 rest = value.coefficient; rest != 0; rest /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  std::ranges::reverse(digits);
  return digits;
}

void Trim(std::string* digits) {
  digits->erase(0, std::min(digits->find_first_not_of('0'), digits->size()));
}

bool Less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::string Sum(const std::string& a, const std::string& b) {
  std::string sum;
  int carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    if (i < a.size()) carry += a[a.size() - 1 - i] - '0';
    if (i < b.size()) carry += b[b.size() - 1 - i] - '0';
    sum += static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  std::ranges::reverse(sum);
  return sum;
}

// Requires a >= b.
std::string Difference(const std::string& a, const std::string& b) {
  std::string difference = a;
  int borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    int digit = a[a.size() - 1 - i] - '0' - borrow;
    if (i < b.size()) digit -= b[b.size() - 1 - i] - '0';
    borrow = digit < 0 ? 1 : 0;
    difference[a.size() - 1 - i] = static_cast<char>('0' + digit + borrow * 10);
  }
  Trim(&difference);
  return difference;
}

std::string Product(const std::string& a, const std::string& b) {
  std::string product(a.size() + b.size(), '0');
  for (size_t i = a.size(); i-- > 0;) {
    int carry = 0;
    for (size_t j = b.size(); j-- > 0;) {
      carry += (product[i + j + 1] - '0') + (a[i] - '0') * (b[j] - '0');
      product[i + j + 1] = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    product[i] = static_cast<char>(product[i] + carry);
  }
  Trim(&product);
  return product;
}

// Rounded down. Requires b > 0.
std::string Quotient(const std::string& a, const std::string& b) {
  std::string quotient;
  std::string rest;
  for (const char digit : a) {
    rest += digit;
    Trim(&rest);
    char times = '0';
    while (!Less(rest, b)) {
      rest = Difference(rest, b);
      ++times;
    }
    quotient += times;
  }
  Trim(&quotient);
  return quotient;
}

std::optional<Decimal> Round(std::string digits, int64_t exponent, bool negative) {
  if (digits.size() > Decimal::kMaxDigits) {
    const size_t cut = digits.size() - Decimal::kMaxDigits;
    const bool up = digits[Decimal::kMaxDigits] >= '5';
    digits.resize(Decimal::kMaxDigits);
    exponent += static_cast<int64_t>(cut);
    if (up) digits = Sum(digits, "1");
    if (digits.size() > Decimal::kMaxDigits) {
      digits.pop_back();
      ++exponent;
    }
  }
  if (digits.empty()) exponent = std::clamp<int64_t>(exponent, Decimal::kMinExponent, 0);
  if (exponent < Decimal::kMinExponent || exponent > Decimal::kMaxExponent) return std::nullopt;
  Decimal value;
  for (const char digit : digits) {
    value.coefficient = value.coefficient * 10 + static_cast<unsigned>(digit - '0');
  }
  value.exponent = static_cast<int32_t>(exponent);
  value.negative = negative && !digits.empty();
  return value;
}

}  // namespace

Decimal Negate(Decimal a) {
  a.negative = !a.negative && a.coefficient != 0;
  return a;
}

std::optional<Decimal> Add(const Decimal& a, const Decimal& b) {
  const Decimal& high = a.exponent >= b.exponent ? a : b;
  const Decimal& low = a.exponent >= b.exponent ? b : a;
  if (high.exponent - low.exponent > kWidestGap && high.coefficient != 0) return high;
  std::string x = DigitsOf(high);
  const std::string y = DigitsOf(low);
  if (!x.empty()) x.append(static_cast<size_t>(high.exponent - low.exponent), '0');
  if (high.negative == low.negative) return Round(Sum(x, y), low.exponent, high.negative);
  return Less(x, y) ? Round(Difference(y, x), low.exponent, low.negative)
                    : Round(Difference(x, y), low.exponent, high.negative);
}

std::optional<Decimal> Subtract(const Decimal& a, const Decimal& b) { return Add(a, Negate(b)); }

std::optional<Decimal> Multiply(const Decimal& a, const Decimal& b) {
  return Round(Product(DigitsOf(a), DigitsOf(b)), int64_t{a.exponent} + b.exponent,
               a.negative != b.negative);
}

std::optional<Decimal> Divide(const Decimal& a, const Decimal& b) {
  if (b.coefficient == 0) return std::nullopt;
  std::string dividend = DigitsOf(a);
  const std::string divisor = DigitsOf(b);
  int64_t exponent = int64_t{a.exponent} - b.exponent;
  if (!dividend.empty()) {
    // One digit more than is kept, for rounding.
    const size_t wanted = Decimal::kMaxDigits + 2 + divisor.size();
    const size_t more = wanted > dividend.size() ? wanted - dividend.size() : 0;
    dividend.append(more, '0');
    exponent -= static_cast<int64_t>(more);
  }
  std::string quotient = Quotient(dividend, divisor);
  // 10 / 4 is 2.5, not 2.500...: needless zeros are removed.
  const int64_t natural = int64_t{a.exponent} - b.exponent;
  while (quotient.ends_with('0') && exponent < natural) {
    quotient.pop_back();
    ++exponent;
  }
  return Round(std::move(quotient), exponent, a.negative != b.negative);
}

}  // namespace sluice::lua
