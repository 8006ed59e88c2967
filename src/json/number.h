// Numbers in text. A double that text gave keeps its literal when printing would differ, so that
// numbers print as they came.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace sluice::json {

// The first number past int64.
inline constexpr double kTwoTo63 = 9223372036854775808.0;

// The length of the JSON number that starts `text`; 0 if none does.
size_t NumberLength(std::string_view text);

// The value of a literal that is one whole JSON number: an int64 where it is written as an integer
// that fits (-0 is a double), else a double. Beyond the range of double it is an infinity or zero
// that still prints as written.
Value NumberFromLiteral(std::string_view literal);

// The shortest text that reads back as `value`, formatted as JavaScript does: 1, 0.000001, 1e-7,
// 1e+21. NaN and infinities give null.
void AppendDouble(double value, std::string* out);

// The same digits, however many zeros it takes to do without an exponent: 0.0000001,
// 1000000000000000000000. Requires a finite value.
void AppendPlainDouble(double value, std::string* out);

}  // namespace sluice::json
