// CRC-32C (Castagnoli), as RocksDB writes it into its files.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::storage {

uint32_t Crc32c(std::string_view bytes);

}  // namespace sluice::storage
