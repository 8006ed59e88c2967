// Decimal: an exact decimal number of up to 34 digits (the range of IEEE decimal128, without its
// infinities and NaNs), and ExactDigits, the common ground on which int64, double and Decimal are
// compared without rounding.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::json {

// coefficient * 10^exponent. 1.50 is {150, -2} and stays distinct in print from 1.5, though both
// compare equal. There is no negative zero.
struct Decimal {
  static constexpr int kMaxDigits = 34;
  static constexpr int kMinExponent = -6176;
  static constexpr int kMaxExponent = 6111;

  unsigned __int128 coefficient = 0;
  int32_t exponent = 0;
  bool negative = false;

  // Text as in JSON, with an optional leading '+' and a fraction without digits before the point.
  // Error decimal.invalid.
  static Result<Decimal> Parse(std::string_view text);

  // A JSON number: 12.50, -0.001, 1.5e-10, 3e40. Parse returns the same coefficient and exponent.
  void AppendTo(std::string* out) const;
  std::string ToString() const;
};

// A number as its significant decimal digits: 0.DIGITS * 10^point. No leading or trailing zeros;
// zero has no digits.
struct ExactDigits {
  std::string digits;
  int32_t point = 0;
  bool negative = false;

  static ExactDigits Of(int64_t value);
  static ExactDigits Of(double value);  // finite
  static ExactDigits Of(const Decimal& value);

  std::strong_ordering operator<=>(const ExactDigits& other) const;
  bool operator==(const ExactDigits& other) const = default;
};

// The double nearest to the value; beyond the range of double, an infinity or zero.
double NearestDouble(const Decimal& value);

}  // namespace sluice::json
