// The data directory: a file FORMAT that identifies it, and the store beside that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "db/types.h"

namespace sluice::db {

// Version 2: the shard comes first in the keys of all families. There is no way from version 1.
inline constexpr uint32_t kFormatVersion = 2;

struct DirectoryFormat {
  uint32_t version = kFormatVersion;
  uint16_t shards = 1;
  std::string id;  // of this database; a restored backup keeps it
};

std::string StorePath(const std::string& directory);

// None when the directory holds no database yet. The file is written last when a database is made:
// without it, no commit was ever acknowledged.
Result<std::optional<DirectoryFormat>> ReadFormat(const std::string& directory);
Status WriteFormat(const std::string& directory, const DirectoryFormat& format);

// Creates the directory and its parents; OK if it exists already.
Status MakeDirectory(const std::string& directory);

// Reads all of a backup, or of a data directory that no server runs on, and compares it with its
// checksums. Writes nothing.
Status VerifyDirectory(const std::string& directory);

// Verifies a backup and copies it to `directory`, which must not exist or be empty.
Status RestoreBackup(const std::string& backup, const std::string& directory);

}  // namespace sluice::db
