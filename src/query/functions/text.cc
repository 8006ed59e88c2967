#include "query/functions/text.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <unicode/uchar.h>

#include "base/utf8.h"

namespace sluice::query {
namespace {

constexpr char32_t kReplacement = 0xfffd;

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) >= 0; });
}

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char UpperAscii(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

template <typename AsciiMap, typename RuneMap>
std::string MapCase(std::string_view text, AsciiMap ascii, RuneMap rune) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Rune next = RuneAt(text, at);
    at += next.size;
    if (next.code < 0x80) {
      out += ascii(static_cast<char>(next.code));
    } else {
      AppendRune(static_cast<char32_t>(rune(static_cast<UChar32>(next.code))), &out);
    }
  }
  return out;
}

// Between words: in ASCII everything but letters, digits and '_', beyond it only white space.
bool SeparatesWords(char32_t code) {
  if (code >= 0x80) return IsSpaceRune(code);
  return code != '_' && u_isalnum(static_cast<UChar32>(code)) == 0;
}

}  // namespace

Rune RuneAt(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + size > text.size() ||
      !IsValidUtf8(text.substr(at, size))) {
    return {kReplacement, 1};
  }
  char32_t code = lead & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
  }
  return {code, size};
}

Rune RuneBefore(std::string_view text, size_t end) {
  size_t start = end - 1;
  while (start > 0 && end - start < 4 && IsContinuation(text[start])) --start;
  const Rune rune = RuneAt(text, start);
  return start + rune.size == end ? rune : Rune{kReplacement, 1};
}

void AppendRune(char32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
    return;
  }
  const auto tail = [&](int shift) { *out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x800) {
    *out += static_cast<char>(0xc0 | (code >> 6));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
  } else {
    *out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
  }
  tail(0);
}

std::u32string RunesOf(std::string_view text) {
  std::u32string runes;
  runes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Rune rune = RuneAt(text, at);
    runes += rune.code;
    at += rune.size;
  }
  return runes;
}

size_t FindText(std::string_view text, std::string_view part, size_t from) {
  if (from > text.size()) return text.npos;
  if (part.empty()) return from;
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return text.npos;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

RuneSet::RuneSet(std::u32string runes) : sorted_(std::move(runes)) { std::ranges::sort(sorted_); }

bool RuneSet::contains(char32_t code) const { return std::ranges::binary_search(sorted_, code); }

size_t RuneCount(std::string_view text) {
  if (IsAscii(text)) return text.size();
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += RuneAt(text, at).size) ++count;
  return count;
}

size_t RuneOffset(std::string_view text, size_t count) {
  size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += RuneAt(text, at).size;
  return at;
}

json::Value TextValue(std::string_view bytes) {
  if (IsAscii(bytes) || IsValidUtf8(bytes)) return bytes;
  std::string out;
  for (const char32_t code : RunesOf(bytes)) AppendRune(code, &out);
  return out;
}

std::string ToLowerText(std::string_view text) { return MapCase(text, LowerAscii, u_tolower); }

std::string ToUpperText(std::string_view text) { return MapCase(text, UpperAscii, u_toupper); }

std::string ToTitleText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool starts_word = true;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = RuneAt(text, at);
    const auto code = static_cast<UChar32>(rune.code);
    AppendRune(static_cast<char32_t>(starts_word ? u_totitle(u_tolower(code)) : u_tolower(code)),
               &out);
    starts_word = SeparatesWords(rune.code);
    at += rune.size;
  }
  return out;
}

std::string ToLowerAscii(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), LowerAscii);
  return out;
}

bool IsLetterRune(char32_t code) { return u_isalpha(static_cast<UChar32>(code)) != 0; }

bool IsDigitRune(char32_t code) { return u_isdigit(static_cast<UChar32>(code)) != 0; }

bool IsNumberRune(char32_t code) {
  return (U_GET_GC_MASK(static_cast<UChar32>(code)) & U_GC_N_MASK) != 0;
}

bool IsSpaceRune(char32_t code) { return u_isUWhiteSpace(static_cast<UChar32>(code)) != 0; }

bool IsMarkRune(char32_t code) {
  return (U_GET_GC_MASK(static_cast<UChar32>(code)) & U_GC_M_MASK) != 0;
}

}  // namespace sluice::query
