#include "db/shard_state.h"

#include "base/bytes.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

constexpr uint8_t kShardStateVersion = 2;
constexpr uint8_t kShardStateWithoutXattrs = 1;  // does not say whether there are any
constexpr uint8_t kXattrsBit = 1;

}  // namespace

std::string ShardState::Key(ShardId shard) { return RowKey(shard, "shard"); }

std::string ShardState::Encode() const {
  std::string stored;
  AppendU8(&stored, kShardStateVersion);
  AppendU64(&stored, sequence);
  AppendU64(&stored, clock);
  AppendU64(&stored, trimmed);
  AppendU64(&stored, purged);
  AppendU8(&stored, has_xattrs ? kXattrsBit : 0);
  return stored;
}

Result<ShardState> ShardState::Decode(std::string_view stored) {
  ByteReader reader(stored);
  const uint8_t version = reader.U8();
  ShardState state;
  state.sequence = reader.U64();
  state.clock = reader.U64();
  state.trimmed = reader.U64();
  state.purged = reader.U64();
  const bool known = version == kShardStateVersion || version == kShardStateWithoutXattrs;
  const uint8_t bits = version == kShardStateWithoutXattrs ? kXattrsBit : reader.U8();
  state.has_xattrs = bits == kXattrsBit;
  if (!known || bits > kXattrsBit || !reader.ok() || !reader.AtEnd()) {
    return Fail(Code::kCorruption, "shard.corrupt", "a shard's stored state is malformed");
  }
  return state;
}

Result<ShardState> ShardState::Load(const storage::Store& store, ShardId shard,
                                    const storage::Snapshot* snapshot) {
  std::string stored;
  ASSIGN_OR_RETURN(const bool found,
                   store.Get(storage::Family::kMeta, Key(shard), &stored, snapshot));
  if (!found) return ShardState{};
  return Decode(stored);
}

}  // namespace sluice::db
