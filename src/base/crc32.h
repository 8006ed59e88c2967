// CRC-32 as zlib computes it. Couchbase's clients place documents by it.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {

uint32_t Crc32(std::string_view bytes);

}  // namespace sluice
