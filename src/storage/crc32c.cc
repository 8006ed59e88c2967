#include "storage/crc32c.h"

#include <array>
#include <cstring>

namespace sluice::storage {
namespace {

constexpr std::array<uint32_t, 256> kTable = [] {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // reversed
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    table[i] = value;
  }
  return table;
}();

uint32_t Portable(uint32_t crc, std::string_view bytes) {
  for (const char byte : bytes) {
    crc = kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff] ^ (crc >> 8);
  }
  return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t WithInstruction(uint32_t crc, std::string_view bytes) {
  uint64_t wide = crc;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  return Portable(static_cast<uint32_t>(wide), bytes);
}
#endif

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
#ifdef __x86_64__
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~WithInstruction(~uint32_t{0}, bytes);
#endif
  return ~Portable(~uint32_t{0}, bytes);
}

}  // namespace sluice::storage
