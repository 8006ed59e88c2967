// A shard's own row in the meta family, which every group of the shard writes: u8 2, u64 each, u8.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

struct ShardState {
  Sequence sequence = 0;    // of the last commit
  Cas clock = 0;            // at least as high as all stamps so far
  Sequence trimmed = 0;     // log rows up to here are gone
  Sequence purged = 0;      // tombstones up to here may be gone
  bool has_xattrs = false;  // some document had extended attributes, perhaps

  static std::string Key(ShardId shard);
  std::string Encode() const;
  static Result<ShardState> Decode(std::string_view stored);
  // A shard without commits has no row.
  static Result<ShardState> Load(const storage::Store& store, ShardId shard,
                                 const storage::Snapshot* snapshot = nullptr);
};

}  // namespace sluice::db
