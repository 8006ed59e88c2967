// RocksDB's number of a family's column family. Number 0 is RocksDB's default column family, which
// is empty.
#pragma once

#include <cstdint>

#include "storage/family.h"

namespace sluice::storage {

constexpr uint32_t ColumnFamilyNumber(Family family) { return static_cast<uint32_t>(family) + 1; }

}  // namespace sluice::storage
