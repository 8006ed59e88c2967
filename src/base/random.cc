#include "base/random.h"

#include <algorithm>
#include <cstdint>

#include <sys/random.h>

#include "base/check.h"

namespace sluice {
namespace {

void Fill(std::string* bytes) {
  size_t filled = 0;
  while (filled < bytes->size()) {
    const ssize_t got = getrandom(bytes->data() + filled, bytes->size() - filled, 0);
    CHECK(got > 0);
    filled += static_cast<size_t>(got);
  }
}

}  // namespace

std::string SecureRandomBytes(size_t size) {
  std::string bytes(size, '\0');
  Fill(&bytes);
  return bytes;
}

std::string IdentifierBytes(size_t size) {
  constexpr size_t kReserve = 4096;
  thread_local std::string reserve;
  if (reserve.size() < size) {
    reserve.resize(std::max(size, kReserve));
    Fill(&reserve);
  }
  std::string bytes = reserve.substr(reserve.size() - size);
  reserve.resize(reserve.size() - size);
  return bytes;
}

std::string NewUuid() {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string bytes = IdentifierBytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string uuid(36, '-');
  size_t at = 0;
  for (const char byte : bytes) {
    if (at == 8 || at == 13 || at == 18 || at == 23) ++at;
    uuid[at++] = kDigits[static_cast<uint8_t>(byte) >> 4];
    uuid[at++] = kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return uuid;
}

}  // namespace sluice
