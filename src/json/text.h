// Walks JSON text without making values; parsing and extraction share this. The walkers never read
// outside the text, whatever it holds, but only Parse and Validate decide whether it is JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::json {

inline constexpr size_t kNoPosition = static_cast<size_t>(-1);

// How many leading bytes are neither a quote, a backslash nor a control character.
size_t PlainPrefix(std::string_view text);

// The position of the first byte at or after `at` that is not white space; text.size() if none.
inline size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
    ++at;
  }
  return at;
}

// The position after the string, number or word that starts at `at`, or kNoPosition if a string has
// no end.
size_t SkipScalar(std::string_view text, size_t at);

// Turns the inside of a string (without its quotes) into UTF-8. An unpaired surrogate becomes
// U+FFFD. Returns the position of the first malformed escape, or kNoPosition if all are right.
size_t Unescape(std::string_view inside, std::string* out);

// Whether a string as it stands in text (without its quotes) is `name`.
bool InsideEquals(std::string_view inside, std::string_view name);

// How many leading bytes are well-formed UTF-8.
size_t ValidUtf8Prefix(std::string_view text);

// json.invalid with the line and column of `at`: "expected EXPECTED, found 'x'".
Status InvalidAt(std::string_view text, size_t at, std::string_view expected);

}  // namespace sluice::json
