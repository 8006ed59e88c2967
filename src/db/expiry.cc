#include "db/expiry.h"

#include "base/bytes.h"

namespace sluice::db {

std::string ExpiryKey(uint64_t due_ms, std::string_view document_row_key) {
  std::string key;
  key.reserve(8 + document_row_key.size());
  AppendU64(&key, due_ms);
  key.append(document_row_key);
  return key;
}

std::string ExpiryValue(ExpiryKind kind) { return std::string(1, static_cast<char>(kind)); }

Result<ExpiryRow> DecodeExpiryRow(std::string_view key, std::string_view value) {
  ByteReader reader(key);
  ExpiryRow row;
  row.due_ms = reader.U64();
  row.document_row_key = key.substr(std::min<size_t>(8, key.size()));
  row.shard = reader.U16();
  row.keyspace = reader.U32();
  row.key = reader.Rest();
  if (!reader.ok() || (value != "d" && value != "t")) {
    return Fail(Code::kCorruption, "expiry.corrupt", "a row of the expiry family is malformed");
  }
  row.kind = static_cast<ExpiryKind>(value[0]);
  return row;
}

}  // namespace sluice::db
