#include "json/hash.h"

#include <cstring>

#include "base/random.h"

namespace sluice::json {
namespace {

uint64_t ProcessSeed() {
  static const uint64_t seed = [] {
    uint64_t value;
    std::memcpy(&value, SecureRandomBytes(sizeof value).data(), sizeof value);
    return value;
  }();
  return seed;
}

uint64_t Word(const char* at, size_t size) {
  uint64_t word = 0;
  std::memcpy(&word, at, size);
  return word;
}

}  // namespace

// Both halves of the product of the two, folded: each input bit reaches every output bit.
uint64_t HashMix(uint64_t a, uint64_t b) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd6e8feb86659fd93);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t HashBytes(std::string_view bytes) {
  const uint64_t seed = ProcessSeed();
  uint64_t hash = seed ^ bytes.size();
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) hash = HashMix(hash ^ Word(bytes.data() + at, 8), seed);
  if (at < bytes.size()) {
    hash = HashMix(hash ^ Word(bytes.data() + at, bytes.size() - at), seed);
  }
  return HashMix(hash, seed);
}

}  // namespace sluice::json
