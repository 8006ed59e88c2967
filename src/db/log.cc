// Key: u16 shard, u64 sequence, u32 n. Value, version 1 (docs/formats/log.md):
//
//   u8      1
//   u8      operation
//   u8      bits: 1 has before, 2 has after, 4 last change of its keyspace in the commit
//   u32     keyspace
//   string  key
//   varint  time_ms
//   u64     cas
//   string  origin
//   string  before, as a stored document   if bit 1
//   bytes   after, as a stored document    if bit 2
#include "db/log.h"

#include <algorithm>

#include "base/bytes.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {
constexpr uint8_t kLogVersion = 1;
constexpr uint8_t kBeforeBit = 1;
constexpr uint8_t kAfterBit = 2;
constexpr uint8_t kLastBit = 4;
constexpr uint64_t kReadaheadBytes = 256 << 10;
}  // namespace

std::string_view OperationName(Operation operation) {
  switch (operation) {
    case Operation::kInsert:
      return "insert";
    case Operation::kUpdate:
      return "update";
    case Operation::kDelete:
      return "delete";
    case Operation::kExpire:
      return "expire";
  }
  return "unknown";
}

std::string LogKey(ShardId shard, Sequence sequence, uint32_t n) {
  std::string key = RowKey(shard);
  AppendU64(&key, sequence);
  AppendU32(&key, n);
  return key;
}

std::string EncodeLogHeader(const Change& change) {
  std::string header;
  AppendU8(&header, kLogVersion);
  AppendU8(&header, static_cast<uint8_t>(change.operation));
  AppendU8(&header,
           static_cast<uint8_t>((change.before ? kBeforeBit : 0) | (change.after ? kAfterBit : 0) |
                                (change.last_of_keyspace ? kLastBit : 0)));
  AppendU32(&header, change.keyspace);
  AppendString(&header, change.key);
  AppendVarint(&header, change.time_ms);
  AppendU64(&header, change.cas);
  AppendString(&header, change.origin);
  if (change.before) AppendString(&header, EncodeDocument(*change.before));
  return header;
}

Status DecodeLogRow(std::string_view key, std::string_view value, Change* change) {
  ByteReader key_reader(key);
  key_reader.U16();
  change->sequence = key_reader.U64();
  change->n = key_reader.U32();
  ByteReader reader(value);
  const uint8_t version = reader.U8();
  const uint8_t operation = reader.U8();
  const uint8_t bits = reader.U8();
  change->keyspace = reader.U32();
  change->key = reader.String();
  change->time_ms = reader.Varint();
  change->cas = reader.U64();
  change->origin = reader.String();
  const std::string_view before = (bits & kBeforeBit) != 0 ? reader.String() : std::string_view();
  const std::string_view after = reader.Rest();
  const bool fits = key_reader.ok() && key_reader.AtEnd() && reader.ok() &&
                    bits <= (kBeforeBit | kAfterBit | kLastBit) &&
                    ((bits & kAfterBit) != 0 || after.empty());
  if (version != kLogVersion || operation < 1 || operation > 4 || !fits) {
    return Error(Code::kCorruption, "log.corrupt", "the log row of sequence {} is malformed",
                 change->sequence);
  }
  change->operation = static_cast<Operation>(operation);
  change->last_of_keyspace = (bits & kLastBit) != 0;
  change->before.reset();
  if ((bits & kBeforeBit) != 0) {
    RETURN_IF_ERROR(DecodeDocument(before, &change->before.emplace()));
  }
  change->after.reset();
  if ((bits & kAfterBit) != 0) {
    RETURN_IF_ERROR(DecodeDocument(after, &change->after.emplace()));
  }
  return OkStatus();
}

LogReader::LogReader(const storage::Store& store, ShardId shard, LogPosition after,
                     std::vector<KeyspaceId> keyspaces, Sequence last)
    : store_(store),
      shard_(shard),
      keyspaces_(std::move(keyspaces)),
      last_(last),
      position_(after) {
  Refresh();
}

void LogReader::Refresh() {
  storage::IterateOptions options;
  options.lower = LogKey(shard_, position_.sequence, position_.n);
  if (last_ == kNoLast) {
    options.upper = ShardEnd(shard_);
  } else {
    options.upper = LogKey(shard_, last_ + 1, 0);
  }
  options.fill_cache = false;
  options.readahead_bytes = kReadaheadBytes;
  iterator_ = store_.NewIterator(storage::Family::kLog, std::move(options));
  started_ = false;
}

bool LogReader::Wanted(KeyspaceId keyspace) const {
  return keyspaces_.empty() || std::binary_search(keyspaces_.begin(), keyspaces_.end(), keyspace);
}

Result<const Change*> LogReader::Next() {
  while (true) {
    if (!started_) {
      iterator_->SeekToFirst();
      started_ = true;
    } else if (iterator_->Valid()) {
      iterator_->Next();
    }
    if (!iterator_->Valid()) {
      RETURN_IF_ERROR(iterator_->status());
      position_.n = UINT32_MAX;  // the rows of a commit come together
      return nullptr;
    }
    RETURN_IF_ERROR(DecodeLogRow(iterator_->key(), iterator_->value(), &change_));
    if (change_.position() <= position_) continue;
    position_ = change_.position();
    if (!Wanted(change_.keyspace)) continue;
    // For a follower of one keyspace, the keyspace's last change is the end of the commit.
    if (change_.last_of_keyspace && keyspaces_.size() == 1) position_.n = UINT32_MAX;
    return &change_;
  }
}

}  // namespace sluice::db
