// Characters of UTF-8 text, for the functions that count, change or classify them. A character is a
// code point; malformed bytes count as one U+FFFD each. Case is mapped code point by code point
// (Unicode's simple mappings), so that a string keeps its number of characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/value.h"

namespace sluice::query {

// The unit that a function counts.
enum class Unit : uint8_t { kBytes, kRunes };

struct Rune {
  char32_t code;
  size_t size;  // in bytes
};

// Requires at < text.size().
Rune RuneAt(std::string_view text, size_t at);
// The one that ends before `end`. Requires 0 < end <= text.size().
Rune RuneBefore(std::string_view text, size_t end);
void AppendRune(char32_t code, std::string* out);
std::u32string RunesOf(std::string_view text);

// The position of `part` at or after `from`; npos if it is not in the text. The time grows with the
// sum of both sizes, and not with their product like the worst case of string_view::find.
size_t FindText(std::string_view text, std::string_view part, size_t from = 0);

// Characters that are looked for often.
class RuneSet {
 public:
  explicit RuneSet(std::u32string runes);
  bool contains(char32_t code) const;

 private:
  std::u32string sorted_;
};

size_t RuneCount(std::string_view text);
// The offset of character number `count`; text.size() if there are no more than `count` characters.
size_t RuneOffset(std::string_view text, size_t count);

// A string from bytes that may have been cut inside a character: malformed bytes become U+FFFD.
json::Value TextValue(std::string_view bytes);

std::string ToLowerText(std::string_view text);
std::string ToUpperText(std::string_view text);
// Words start with an upper case letter, the rest is in lower case.
std::string ToTitleText(std::string_view text);
// ASCII only: for option names and date parts.
std::string ToLowerAscii(std::string_view text);

bool IsLetterRune(char32_t code);
bool IsDigitRune(char32_t code);
// Digits and other numbers of all scripts.
bool IsNumberRune(char32_t code);
bool IsSpaceRune(char32_t code);
// Accents and other marks that belong to the character before them.
bool IsMarkRune(char32_t code);

}  // namespace sluice::query
