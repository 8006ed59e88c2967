// Hashes for tables in memory. The seed is random for each process, so that a client can't choose
// names that collide; never store a hash.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::json {

uint64_t HashBytes(std::string_view bytes);
uint64_t HashMix(uint64_t a, uint64_t b);

}  // namespace sluice::json
