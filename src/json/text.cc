#include "json/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sluice::json {
namespace {

// Words are read so that the first byte of the text is the lowest.
static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighs = 0x8080808080808080;

// The high bit of each byte of `word` that is zero; bits above the lowest such byte may be wrong.
uint64_t ZeroBytes(uint64_t word) { return (word - kOnes) & ~word & kHighs; }

// The same for bytes that end a plain run of a string.
uint64_t SpecialBytes(uint64_t word) {
  const uint64_t control = (word - kOnes * 0x20) & ~word & kHighs;
  return control | ZeroBytes(word ^ kOnes * '"') | ZeroBytes(word ^ kOnes * '\\');
}

bool IsSpecial(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

// The characters that may follow a number or a word.
constexpr std::array<bool, 256> MakeDelimiters() {
  std::array<bool, 256> delimiters{};
  for (const unsigned char c : {',', ':', ' ', '\t', '\n', '\r', '{', '}', '[', ']', '"'}) {
    delimiters[c] = true;
  }
  return delimiters;
}
constexpr std::array<bool, 256> kDelimiters = MakeDelimiters();

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four hex digits at `at`, or -1.
int Hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return -1;
  int value = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int digit = HexDigit(text[at + i]);
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}

void AppendUtf8(uint32_t code, std::string* out) {
  const auto tail = [&](int shift) { *out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    *out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

// One escape whose backslash is at `at`. Returns the position after it, or kNoPosition.
size_t UnescapeOne(std::string_view text, size_t at, std::string* out) {
  if (at + 1 >= text.size()) return kNoPosition;
  constexpr std::string_view kFrom = "\"\\/bfnrt";
  constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
  if (const size_t simple = kFrom.find(text[at + 1]); simple != std::string_view::npos) {
    *out += kTo[simple];
    return at + 2;
  }
  const int first = text[at + 1] == 'u' ? Hex4(text, at + 2) : -1;
  if (first < 0) return kNoPosition;
  auto code = static_cast<uint32_t>(first);
  size_t next = at + 6;
  if (code >= 0xd800 && code < 0xdc00 && text.substr(next, 2) == "\\u") {
    const int second = Hex4(text, next + 2);
    if (second >= 0xdc00 && second < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (static_cast<uint32_t>(second) - 0xdc00);
      next += 6;
    }
  }
  constexpr uint32_t kReplacement = 0xfffd;
  AppendUtf8(code >= 0xd800 && code < 0xe000 ? kReplacement : code, out);
  return next;
}

// The length of the well-formed UTF-8 character at the start of `text`, or 0.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  // The second byte's range excludes overlong forms, surrogates and codes above U+10FFFF.
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

std::string Describe(std::string_view text, size_t at) {
  if (at >= text.size()) return "the end of the text";
  const auto c = static_cast<unsigned char>(text[at]);
  if (c < 0x20 || c == 0x7f) return fmt::format("the control character 0x{:02x}", c);
  const size_t length = Utf8Length(text.substr(at));
  return length == 0 ? fmt::format("the byte 0x{:02x}", c)
                     : fmt::format("'{}'", text.substr(at, length));
}

size_t SkipString(std::string_view text, size_t at) {
  ++at;
  while (true) {
    at += PlainPrefix(text.substr(at));
    if (at >= text.size()) return kNoPosition;
    if (text[at] == '"') return at + 1;
    at += text[at] == '\\' ? 2 : 1;
    if (at > text.size()) return kNoPosition;
  }
}

}  // namespace

size_t PlainPrefix(std::string_view text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    const uint64_t special = SpecialBytes(word);
    if (special != 0) return at + static_cast<size_t>(std::countr_zero(special)) / 8;
  }
  while (at < text.size() && !IsSpecial(text[at])) ++at;
  return at;
}

size_t SkipScalar(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == '"') return SkipString(text, at);
  while (at < text.size() && !kDelimiters[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

size_t Unescape(std::string_view inside, std::string* out) {
  size_t at = 0;
  while (at < inside.size()) {
    const size_t escape = std::min(inside.find('\\', at), inside.size());
    out->append(inside.data() + at, escape - at);
    at = escape;
    if (at == inside.size()) break;
    const size_t next = UnescapeOne(inside, at, out);
    if (next == kNoPosition) return at;
    at = next;
  }
  return kNoPosition;
}

// An escape is longer than what it stands for, so the sizes tell which of the two cases it can be.
bool InsideEquals(std::string_view inside, std::string_view name) {
  if (inside.size() < name.size()) return false;
  if (inside.size() == name.size() && inside != name) return false;
  const bool escaped = inside.find('\\') != std::string_view::npos;
  if (inside.size() == name.size()) return !escaped;
  std::string plain;
  return escaped && Unescape(inside, &plain) == kNoPosition && plain == name;
}

size_t ValidUtf8Prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

Status InvalidAt(std::string_view text, size_t at, std::string_view expected) {
  const std::string_view before = text.substr(0, at);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto characters = std::count_if(before.begin() + static_cast<ptrdiff_t>(line_start),
                                        before.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return Error(Code::kInvalidArgument, "json.invalid", "expected {}, found {}", expected,
               Describe(text, at))
      .At({.file = "",
           .line = static_cast<uint32_t>(line),
           .column = static_cast<uint32_t>(characters + 1)});
}

}  // namespace sluice::json
