#include "base/base64.h"

#include <array>
#include <cstdint>

namespace sluice {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNotInAlphabet = 0xff;

constexpr std::array<uint8_t, 256> MakeDigits() {
  std::array<uint8_t, 256> digits{};
  digits.fill(kNotInAlphabet);
  for (uint8_t i = 0; i < 64; ++i) digits[static_cast<uint8_t>(kAlphabet[i])] = i;
  return digits;
}
constexpr std::array<uint8_t, 256> kDigits = MakeDigits();

std::unexpected<Status> Invalid(size_t at, std::string_view why) {
  return Fail(Code::kInvalidArgument, "base64.invalid", "not base64 at byte {}: {}", at, why);
}

}  // namespace

void AppendBase64(std::string_view bytes, std::string* out) {
  out->reserve(out->size() + (bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t size = std::min<size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < size ? static_cast<uint8_t>(bytes[at + i]) : 0);
    }
    for (size_t i = 0; i < 4; ++i) {
      *out += i <= size ? kAlphabet[group >> (18 - 6 * i) & 63] : '=';
    }
  }
}

std::string ToBase64(std::string_view bytes) {
  std::string text;
  AppendBase64(bytes, &text);
  return text;
}

Result<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return Invalid(text.size(), "its length is not a multiple of four");
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const size_t digits = text.size() - padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  for (size_t at = 0; at < digits; ++at) {
    const uint8_t digit = kDigits[static_cast<uint8_t>(text[at])];
    if (digit == kNotInAlphabet) return Invalid(at, "expected one of A-Z, a-z, 0-9, + and /");
    group = group << 6 | digit;
    if (at % 4 != 0) bytes += static_cast<char>(group >> (6 - 2 * (at % 4)) & 0xff);
  }
  const uint32_t spare = padding == 0 ? 0 : group & (padding == 1 ? 3u : 15u);
  if (spare != 0) return Invalid(digits - 1, "the bits after the last byte are not zero");
  return bytes;
}

}  // namespace sluice
