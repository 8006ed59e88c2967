// Byte formats: fixed-width big-endian integers (they sort as the numbers do), LEB128 varints and
// length-prefixed strings, appended to a std::string and read back with ByteReader.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sluice {

void AppendU8(std::string* out, uint8_t value);
void AppendU16(std::string* out, uint16_t value);  // big-endian
void AppendU32(std::string* out, uint32_t value);  // big-endian
void AppendU64(std::string* out, uint64_t value);  // big-endian
void AppendVarint(std::string* out, uint64_t value);
void AppendString(std::string* out, std::string_view value);  // varint length, then bytes

// Reads what the functions above wrote. A read past the end returns zero or an empty view and makes
// ok() false from then on, so a caller may read everything and check once. Inline: every document
// and change that is read passes through it.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  uint8_t U8() { return BigEndian<uint8_t>(); }
  uint16_t U16() { return BigEndian<uint16_t>(); }
  uint32_t U32() { return BigEndian<uint32_t>(); }
  uint64_t U64() { return BigEndian<uint64_t>(); }
  uint64_t Varint() {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) return static_cast<uint8_t>(*at_++);
    return LongVarint();
  }
  std::string_view String() { return Take(Varint()); }
  std::string_view Take(size_t size) {
    if (size > remaining()) {
      Fail();
      return {};
    }
    const std::string_view taken(at_, size);
    at_ += size;
    return taken;
  }
  std::string_view Rest() { return Take(remaining()); }

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == end_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }

 private:
  template <typename T>
  T BigEndian() {
    if (remaining() < sizeof(T)) {
      Fail();
      return 0;
    }
    T value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
    return value;
  }
  uint64_t LongVarint();
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

// The smallest string that is greater than every string with this prefix; empty if no string is.
std::string PrefixEnd(std::string_view prefix);

std::string ToHex(std::string_view bytes);

}  // namespace sluice
