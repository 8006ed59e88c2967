#include "json/crc64.h"

#include <array>

#include <fmt/format.h>

namespace sluice::json {
namespace {

constexpr uint64_t kPolynomial = 0xd800000000000000;

constexpr std::array<uint64_t, 256> MakeTable() {
  std::array<uint64_t, 256> table{};
  for (uint64_t i = 0; i < table.size(); ++i) {
    uint64_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ kPolynomial : crc >> 1;
    table[i] = crc;
  }
  return table;
}
constexpr std::array<uint64_t, 256> kTable = MakeTable();

}  // namespace

uint64_t Crc64Iso(std::string_view bytes) {
  uint64_t crc = ~uint64_t{0};
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

std::string Crc64IsoHex(std::string_view bytes) { return fmt::format("{:016x}", Crc64Iso(bytes)); }

}  // namespace sluice::json
