#include "function/source/characters.h"

#include <algorithm>
#include <iterator>

namespace sluice::function {
namespace {

// `let` is reserved in strict code alone, which handlers are unless they say otherwise.
constexpr std::string_view kReserved[] = {
    "await",   "break",  "case",     "catch", "class",  "const",  "continue",   "debugger",
    "default", "delete", "do",       "else",  "enum",   "export", "extends",    "false",
    "finally", "for",    "function", "if",    "import", "in",     "instanceof", "let",
    "new",     "null",   "return",   "super", "switch", "this",   "throw",      "true",
    "try",     "typeof", "var",      "void",  "while",  "with",   "yield"};

}  // namespace

Character CharacterAt(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  if (first < 0xc0) return {.value = first, .length = 1};
  const uint32_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  char32_t value = first & (0xff >> (length + 1));
  for (uint32_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || !IsContinuation(text[at + i])) return {.value = first};
    value = (value << 6) | (byte(i) & 0x3f);
  }
  return {.value = value, .length = length};
}

size_t LineEndLength(std::string_view text, size_t at) {
  if (at >= text.size()) return 0;
  if (text[at] == '\n') return 1;
  if (text[at] == '\r') return at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
  const std::string_view three = text.substr(at, 3);
  return three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9" ? 3 : 0;
}

bool IsBlank(char32_t c) {
  switch (c) {
    case ' ':
    case '\t':
    case '\v':
    case '\f':
    case 0xa0:
    case 0x1680:
    case 0x202f:
    case 0x205f:
    case 0x3000:
    case 0xfeff:
      return true;
    default:
      return c >= 0x2000 && c <= 0x200a;
  }
}

bool IsNameStart(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  return !IsBlank(c) && c != 0x2028 && c != 0x2029;
}

bool IsNamePart(char32_t c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }

bool IsReservedWord(std::string_view text) {
  return std::find(std::begin(kReserved), std::end(kReserved), text) != std::end(kReserved);
}

bool IsPlainName(std::string_view text) {
  if (text.empty() || !IsNameStart(CharacterAt(text, 0).value)) return false;
  for (size_t at = 0; at < text.size();) {
    const Character c = CharacterAt(text, at);
    if (!IsNamePart(c.value)) return false;
    at += c.length;
  }
  return !IsReservedWord(text);
}

SourcePlace PlaceAfter(SourcePlace place, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (const size_t end = LineEndLength(text, at)) {
      ++place.line;
      place.column = 1;
      at += end;
    } else {
      const Character c = CharacterAt(text, at);
      place.column += c.value > 0xffff ? 2 : 1;
      at += c.length;
    }
  }
  return place;
}

size_t UnitsBefore(std::string_view text, SourcePlace place) {
  size_t units = 0;
  SourcePlace here;
  for (size_t at = 0; at < text.size() && here < place;) {
    const size_t end = LineEndLength(text, at);
    const Character c = CharacterAt(text, at);
    units += text[at] == '\r' ? end : c.value > 0xffff ? 2 : 1;
    const size_t length = end > 0 ? end : c.length;
    here = PlaceAfter(here, text.substr(at, length));
    at += length;
  }
  return units;
}

}  // namespace sluice::function
