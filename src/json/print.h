// Prints values as JSON text, appended to a string. The text is always valid JSON:
//
//   missing           null in an array or alone (an object holds none)
//   NaN, infinities   null, unless they came from a literal, which is printed; strings if asked for
//   decimal           its number, digit for digit: 12.50
//   datetime          "2024-05-10T12:34:56.789Z" (temporal.h)
//   interval          "2-03" or "3 04:05:06.000" (temporal.h)
//   binary            its base64 as a string
//
// Strings are escaped only where JSON asks for it: quote, backslash and characters below U+0020.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace sluice::json {

struct PrintOptions {
  enum class Order : uint8_t { kInsertion, kSorted };
  // As they came, else as JavaScript prints them; or as query results have them: without an
  // exponent and without needless zeros, NaN and infinities as the strings "NaN", "+Infinity" and
  // "-Infinity". Whole numbers that came as text keep all their digits in both.
  enum class Numbers : uint8_t { kAsWritten, kPlain };

  int indent = 0;  // spaces per level; 0 prints on one line without blanks
  Order order = Order::kInsertion;
  Numbers numbers = Numbers::kAsWritten;
};

void Print(const Value& value, std::string* out, const PrintOptions& options = {});
std::string ToText(const Value& value, const PrintOptions& options = {});

// One string with its quotes.
void AppendQuoted(std::string_view text, std::string* out);

}  // namespace sluice::json
