#include "base/bytes.h"

namespace sluice {
namespace {

template <typename T>
void AppendBigEndian(std::string* out, T value) {
  char buffer[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) {
    buffer[i] = static_cast<char>(value >> (8 * (sizeof(T) - 1 - i)));
  }
  out->append(buffer, sizeof(T));
}

}  // namespace

void AppendU8(std::string* out, uint8_t value) { out->push_back(static_cast<char>(value)); }
void AppendU16(std::string* out, uint16_t value) { AppendBigEndian(out, value); }
void AppendU32(std::string* out, uint32_t value) { AppendBigEndian(out, value); }
void AppendU64(std::string* out, uint64_t value) { AppendBigEndian(out, value); }

void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendString(std::string* out, std::string_view value) {
  AppendVarint(out, value.size());
  out->append(value);
}

uint64_t ByteReader::LongVarint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = U8();
    if (!ok_) return 0;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  Fail();
  return 0;
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty()) {
    if (static_cast<uint8_t>(end.back()) != 0xff) {
      end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
      return end;
    }
    end.pop_back();
  }
  return end;
}

std::string ToHex(std::string_view bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (char byte : bytes) {
    hex.push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
    hex.push_back(kDigits[static_cast<uint8_t>(byte) & 15]);
  }
  return hex;
}

}  // namespace sluice
