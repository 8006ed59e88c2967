// The families (column families of RocksDB) that keys live in; docs/formats/README.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::storage {

// The numbers are stored: a serialised group of commits names a family by its number
// (docs/formats/groups.md), and RocksDB's number of a column family is one more. A new family is
// added at the end, and none is removed.
enum class Family : uint8_t {
  kMeta = 0,
  kDocs = 1,
  kLog = 2,
  kIndex = 3,
  kCursor = 4,
  kTimer = 5,
  kExpiry = 6,
  kFailure = 7,
  kRun = 8,
  kRevision = 9,
};
inline constexpr size_t kFamilyCount = 10;
std::string_view FamilyName(Family family);

}  // namespace sluice::storage
