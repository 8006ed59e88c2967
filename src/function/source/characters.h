// The characters of JavaScript source text in UTF-8, for the tokenizer.
//
// Letters beyond ASCII are not looked up in Unicode's tables: every character that is neither a
// blank nor the end of a line may be part of a name, and V8 decides later.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ascii.h"

namespace sluice::function {

struct Character {
  char32_t value = 0;
  uint32_t length = 1;  // in bytes
};

// The character at `at`, which is within the text. A byte that begins no character stands for
// itself.
Character CharacterAt(std::string_view text, size_t at);

// 1 or 2 for the end of a line at `at` (\r\n is one), 3 for U+2028 and U+2029, else 0.
size_t LineEndLength(std::string_view text, size_t at);
bool IsBlank(char32_t c);      // not the ends of lines
bool IsNameStart(char32_t c);  // without the backslash of an escape
bool IsNamePart(char32_t c);

inline bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Whether `text` is a name of JavaScript that is not reserved, written without escapes.
bool IsPlainName(std::string_view text);
bool IsReservedWord(std::string_view text);

// Lines and columns begin with 1; columns count UTF-16 units, as V8 and editors do.
struct SourcePlace {
  uint32_t line = 1;
  uint32_t column = 1;

  bool operator==(const SourcePlace&) const = default;
  auto operator<=>(const SourcePlace&) const = default;
};

// The place after `text`, which begins at `place`.
SourcePlace PlaceAfter(SourcePlace place, std::string_view text);
// The number of UTF-16 units before the place; all units when the place is not in the text.
size_t UnitsBefore(std::string_view text, SourcePlace place);

}  // namespace sluice::function
