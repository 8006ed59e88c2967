#include "base/random.h"

#include <sys/random.h>

#include "base/bytes.h"
#include "base/check.h"

namespace sluice {

std::string SecureRandomBytes(size_t size) {
  std::string bytes(size, '\0');
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got = getrandom(bytes.data() + filled, size - filled, 0);
    CHECK(got > 0);
    filled += static_cast<size_t>(got);
  }
  return bytes;
}

std::string NewUuid() {
  std::string bytes = SecureRandomBytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string hex = ToHex(bytes);
  for (size_t at : {8, 13, 18, 23}) hex.insert(at, 1, '-');
  return hex;
}

}  // namespace sluice
