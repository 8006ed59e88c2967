// Reads write-ahead logs and the manifest before RocksDB does and refuses damage that it would pass
// over: after a record whose length was damaged RocksDB takes the rest for a torn tail, bytes that
// became zero it skips, and of a log that is missing or cut short it misses nothing.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace sluice::storage {

// `files` are the paths of logs in the order in which they were written. An incomplete record at
// the end of one is accepted: its write was not acknowledged. Everything else that is not as it was
// written is storage.corrupt, naming the file and the place in it.
Status CheckWals(const std::vector<std::string>& files);
// The same for a manifest, which is a log too.
Status CheckManifest(const std::string& file);

}  // namespace sluice::storage
