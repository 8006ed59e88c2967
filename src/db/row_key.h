// Keys of stored rows. In every family a key begins with the shard that the row belongs to (u16,
// big-endian), so that the rows of a shard can be copied, moved or dropped as a range of each
// family. The committer of that shard writes the row, and nobody else does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "db/types.h"

namespace sluice::db {

inline constexpr size_t kShardBytes = 2;

// The stored key of a row, from its key within the shard.
inline std::string RowKey(ShardId shard, std::string_view key = {}) {
  std::string stored;
  stored.reserve(kShardBytes + key.size());
  AppendU16(&stored, shard);
  stored.append(key);
  return stored;
}
// The first key after all rows of the shard.
inline std::string ShardEnd(ShardId shard) { return RowKey(static_cast<ShardId>(shard + 1)); }

// The parts of a stored key that RowKey has made.
inline ShardId ShardOfRow(std::string_view stored_key) {
  CHECK(stored_key.size() >= kShardBytes);
  return ByteReader(stored_key).U16();
}
inline std::string_view KeyInShard(std::string_view stored_key) {
  CHECK(stored_key.size() >= kShardBytes);
  return stored_key.substr(kShardBytes);
}

}  // namespace sluice::db
