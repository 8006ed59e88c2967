// Reads write-ahead logs and the manifest before RocksDB does, and refuses damage that RocksDB
// would silently accept: it takes everything after a damaged length for a torn tail, it skips bytes
// that became zero, and it does not notice a missing or shortened log.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace sluice::storage {

// `files` are the paths of logs in the order in which they were written. An incomplete record at
// the end of a log is accepted, because its write was not acknowledged. Any other damage is
// storage.corrupt; the message names the file and the offset.
Status CheckWals(const std::vector<std::string>& files);
// The same for a manifest, which is a log too.
Status CheckManifest(const std::string& file);

}  // namespace sluice::storage
