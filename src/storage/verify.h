// Checks the files of a store that no process has open.
#pragma once

#include <string>

#include "base/status.h"

namespace sluice::storage {

// Reads every block of every file and compares checksums; logs and manifest must be whole. Writes
// nothing, so that a backup stays unchanged.
Status VerifyClosedStore(const std::string& directory);

}  // namespace sluice::storage
