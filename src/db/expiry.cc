#include "db/expiry.h"

#include "db/document.h"
#include "db/row_key.h"

namespace sluice::db {

std::string ExpiryRow::DocumentRowKey() const { return DocumentKey(shard, keyspace, key); }

std::string ExpiryKeyFrom(ShardId shard, uint64_t due_ms) {
  std::string key = RowKey(shard);
  AppendU64(&key, due_ms);
  return key;
}

std::string ExpiryKey(uint64_t due_ms, std::string_view document_row_key) {
  return ExpiryKeyFrom(ShardOfRow(document_row_key), due_ms).append(KeyInShard(document_row_key));
}

std::string ExpiryValue(ExpiryKind kind) { return std::string(1, static_cast<char>(kind)); }

Result<ExpiryRow> DecodeExpiryRow(std::string_view key, std::string_view value) {
  ByteReader reader(key);
  ExpiryRow row;
  row.shard = reader.U16();
  row.due_ms = reader.U64();
  row.keyspace = reader.U32();
  row.key = reader.Rest();
  if (!reader.ok() || (value != "d" && value != "t")) {
    return Fail(Code::kCorruption, "expiry.corrupt", "a row of the expiry family is malformed");
  }
  row.kind = static_cast<ExpiryKind>(value[0]);
  return row;
}

}  // namespace sluice::db
