// RocksDB's status in our words. Included only inside this module.
#pragma once

#include <string>

#include <rocksdb/status.h>

#include "base/status.h"

namespace sluice::storage {

// `directory` is where the store lives; the message names the damaged file when RocksDB does.
Status FromRocks(const rocksdb::Status& status, const std::string& directory);

}  // namespace sluice::storage
