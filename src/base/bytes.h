// Byte formats: fixed-width big-endian integers (they sort as the numbers do), LEB128 varints and
// length-prefixed strings, appended to a std::string and read back with ByteReader.
#pragma once

#include <cstdint>
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
// ok() false from then on, so a caller may read everything and check once.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  uint8_t U8();
  uint16_t U16();
  uint32_t U32();
  uint64_t U64();
  uint64_t Varint();
  std::string_view String();
  std::string_view Take(size_t size);
  std::string_view Rest();

  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }
  size_t remaining() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// The smallest string that is greater than every string with this prefix; empty if there is none.
std::string PrefixEnd(std::string_view prefix);

std::string ToHex(std::string_view bytes);

}  // namespace sluice
