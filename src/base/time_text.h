// Times for people and logs.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

// Milliseconds since 1970 as 2026-11-16T13:05:09.042Z.
std::string UtcText(uint64_t wall_ms);

}  // namespace sluice
