// CRC-64/ISO: the reflected polynomial 0xD800000000000000, all ones before and after, as Go's
// hash/crc64 has it and as the functions crc64() and crc_64_go_iso() of Eventing show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::json {

uint64_t Crc64Iso(std::string_view bytes);

// The same as 16 lower-case hex digits.
std::string Crc64IsoHex(std::string_view bytes);

}  // namespace sluice::json
