// Rows of the expiry family: when documents and tombstones must be removed
// (docs/formats/expiry.md). Key: u16 shard, u64 due time in ms, then the rest of the document's row
// key. Value: one byte, the kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/types.h"

namespace sluice::db {

// A document that expires, or a tombstone whose time is over. A row may be out of date, because the
// document was written again: look at the document before you act on its row.
enum class ExpiryKind : char { kDocument = 'd', kTombstone = 't' };

struct ExpiryRow {
  uint64_t due_ms = 0;
  ExpiryKind kind = ExpiryKind::kDocument;
  ShardId shard = 0;
  KeyspaceId keyspace = 0;
  std::string_view key;

  std::string DocumentRowKey() const;
};

std::string ExpiryKey(uint64_t due_ms, std::string_view document_row_key);
// The first key of the shard's rows that are due then or later.
std::string ExpiryKeyFrom(ShardId shard, uint64_t due_ms);
std::string ExpiryValue(ExpiryKind kind);
Result<ExpiryRow> DecodeExpiryRow(std::string_view key, std::string_view value);

}  // namespace sluice::db
