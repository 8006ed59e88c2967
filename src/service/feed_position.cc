#include "service/feed_position.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/bytes.h"

namespace sluice::service {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kMaxText = 64 << 10;
constexpr uint64_t kMaxShards = UINT16_MAX;

std::unexpected<Status> BadPosition() {
  return Fail(Code::kInvalidArgument, "feed.bad_position",
              "expected the id of an event of this feed; leave it out to start again");
}

}  // namespace

std::string FeedPosition::ToText() const {
  std::string bytes;
  AppendU8(&bytes, kVersion);
  AppendVarint(&bytes, keyspace);
  AppendVarint(&bytes, shards.size());
  for (const db::CursorState& shard : shards) {
    AppendVarint(&bytes, shard.position.sequence);
    AppendVarint(&bytes, shard.position.n == UINT32_MAX ? 0 : uint64_t{shard.position.n} + 1);
    AppendU8(&bytes, shard.backfilling ? 1 : 0);
    if (!shard.backfilling) continue;
    AppendVarint(&bytes, shard.backfill_from);
    AppendString(&bytes, shard.backfill_key);
  }
  std::string text = ToBase64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

Result<FeedPosition> FeedPosition::Parse(std::string_view text) {
  if (text.size() > kMaxText) return BadPosition();
  std::string padded(text);
  std::replace(padded.begin(), padded.end(), '-', '+');
  std::replace(padded.begin(), padded.end(), '_', '/');
  while (padded.size() % 4 != 0) padded += '=';
  const Result<std::string> bytes = FromBase64(padded);
  if (!bytes) return BadPosition();
  ByteReader reader(*bytes);
  if (reader.U8() != kVersion) return BadPosition();
  FeedPosition position;
  position.keyspace = static_cast<db::KeyspaceId>(reader.Varint());
  const uint64_t count = reader.Varint();
  if (count > kMaxShards) return BadPosition();
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    db::CursorState shard;
    shard.position.sequence = reader.Varint();
    const uint64_t n = reader.Varint();
    shard.position.n = n == 0 ? UINT32_MAX : static_cast<uint32_t>(n - 1);
    shard.backfilling = reader.U8() != 0;
    if (shard.backfilling) {
      shard.backfill_from = reader.Varint();
      shard.backfill_keyspace = position.keyspace;
      shard.backfill_key = reader.String();
    }
    position.shards.push_back(std::move(shard));
  }
  if (!reader.ok() || !reader.AtEnd() || position.shards.empty()) return BadPosition();
  return position;
}

}  // namespace sluice::service
