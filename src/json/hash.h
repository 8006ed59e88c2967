// Hashes for tables in memory. Seeded at random once per process, so that nobody can choose names
// that collide; never store one.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::json {

uint64_t HashBytes(std::string_view bytes);
uint64_t HashMix(uint64_t a, uint64_t b);

}  // namespace sluice::json
