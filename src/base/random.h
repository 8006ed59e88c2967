// Chance comes in through constructors: a seed replays a run.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace sluice {

// A fast pseudo-random generator. One thread at a time.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Next() { return engine_(); }
  uint64_t Below(uint64_t bound) { return bound == 0 ? 0 : engine_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

// Bytes from the operating system's generator, for secrets. Any thread.
std::string SecureRandomBytes(size_t size);
// The same for identifiers, from a buffer of each thread, which saves a system call.
std::string IdentifierBytes(size_t size);

// A random (version 4) UUID in its 36-character text form.
std::string NewUuid();

}  // namespace sluice
