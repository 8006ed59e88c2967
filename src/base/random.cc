#include "base/random.h"

#include <algorithm>

#include <sys/random.h>

#include "base/bytes.h"
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
  std::string bytes = IdentifierBytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  const std::string hex = ToHex(bytes);
  std::string uuid(36, '-');
  size_t from = 0;
  for (const auto& [at, size] : std::initializer_list<std::pair<size_t, size_t>>{
           {0, 8}, {9, 4}, {14, 4}, {19, 4}, {24, 12}}) {
    uuid.replace(at, size, hex, from, size);
    from += size;
  }
  return uuid;
}

}  // namespace sluice
