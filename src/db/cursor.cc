// Key: u16 shard, follower's name, 0x00, u16 lane. Names have no zero byte.
// Value, version 1: u8 1, u8 bits (1: backfilling), varint sequence, varint n, varint events, and
// while backfilling: varint from, u32 keyspace, string key.
#include "db/cursor.h"

#include "base/bytes.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {
constexpr uint8_t kCursorVersion = 1;
constexpr uint8_t kBackfillingBit = 1;
constexpr size_t kKeySuffixBytes = 3;
}  // namespace

std::string CursorPrefix(std::string_view follower, ShardId shard) {
  std::string prefix = RowKey(shard, follower);
  prefix.push_back('\0');
  return prefix;
}

std::string CursorKey(const CursorId& cursor) {
  std::string key = CursorPrefix(cursor.follower, cursor.shard);
  AppendU16(&key, cursor.lane);
  return key;
}

Result<CursorId> DecodeCursorKey(std::string_view key) {
  if (key.size() < kShardBytes + kKeySuffixBytes || key[key.size() - kKeySuffixBytes] != '\0') {
    return Fail(Code::kCorruption, "cursor.corrupt", "a stored cursor's key is malformed");
  }
  CursorId cursor;
  cursor.shard = ShardOfRow(key);
  cursor.follower = key.substr(kShardBytes, key.size() - kShardBytes - kKeySuffixBytes);
  cursor.lane = ByteReader(key.substr(key.size() - 2)).U16();
  return cursor;
}

std::string EncodeCursor(const CursorState& state) {
  std::string stored;
  AppendU8(&stored, kCursorVersion);
  AppendU8(&stored, state.backfilling ? kBackfillingBit : 0);
  AppendVarint(&stored, state.position.sequence);
  AppendVarint(&stored, state.position.n);
  AppendVarint(&stored, state.events);
  if (state.backfilling) {
    AppendVarint(&stored, state.backfill_from);
    AppendU32(&stored, state.backfill_keyspace);
    AppendString(&stored, state.backfill_key);
  }
  return stored;
}

Result<CursorState> DecodeCursor(std::string_view stored) {
  ByteReader reader(stored);
  const uint8_t version = reader.U8();
  const uint8_t bits = reader.U8();
  CursorState state;
  state.position.sequence = reader.Varint();
  const uint64_t n = reader.Varint();
  state.position.n = static_cast<uint32_t>(n);
  state.events = reader.Varint();
  state.backfilling = (bits & kBackfillingBit) != 0;
  if (state.backfilling) {
    state.backfill_from = reader.Varint();
    state.backfill_keyspace = reader.U32();
    state.backfill_key = reader.String();
  }
  if (version != kCursorVersion || bits > kBackfillingBit || n > UINT32_MAX || !reader.ok() ||
      !reader.AtEnd()) {
    return Fail(Code::kCorruption, "cursor.corrupt", "a stored cursor is malformed");
  }
  return state;
}

}  // namespace sluice::db
