// A document and its stored form (docs/formats/documents.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

enum class Datatype : uint8_t { kBinary = 0, kJson = 1 };

// A document in memory. The body is kept byte for byte.
struct Document {
  std::string body;
  Datatype datatype = Datatype::kJson;
  uint32_t flags = 0;
  uint64_t expiry_ms = 0;  // Unix time; 0 for never
  std::string xattrs;      // user extended attributes: the text of a JSON object, or empty
  Cas cas = 0;
  Sequence sequence = 0;
};

// The same, borrowed from stored bytes. A deletion leaves a tombstone.
struct DocumentView {
  std::string_view body;
  Datatype datatype = Datatype::kJson;
  bool tombstone = false;
  bool expired = false;  // of a tombstone: the document expired, nobody deleted it
  uint32_t flags = 0;
  uint64_t expiry_ms = 0;
  std::string_view xattrs;
  Cas cas = 0;
  Sequence sequence = 0;

  static DocumentView Of(const Document& document);
  Document Copy() const;
  bool ExpiredAt(uint64_t now_ms) const { return expiry_ms != 0 && expiry_ms <= now_ms; }
  // Present for a reader: neither a tombstone nor expired.
  bool LiveAt(uint64_t now_ms) const { return !tombstone && !ExpiredAt(now_ms); }
};

// document.too_large, document.xattrs_too_large.
Status CheckDocumentSize(const DocumentView& document);

// The stored form in two parts, so that the body need not be copied: header, then body.
std::string EncodeDocumentHeader(const DocumentView& document);
std::string EncodeDocument(const DocumentView& document);
Result<DocumentView> DecodeDocument(std::string_view stored);
// The same without moving the view around, for readers of many.
Status DecodeDocument(std::string_view stored, DocumentView* document);

// Keys of the docs family: shard, keyspace, key.
std::string DocumentKey(ShardId shard, KeyspaceId keyspace, std::string_view key);
std::string KeyspacePrefix(ShardId shard, KeyspaceId keyspace);
inline constexpr size_t kDocumentKeyPrefixBytes = 6;

// A document that was read from the store without a copy: it holds the block of the store in which
// the document lies. Or a document that is not in the store (a transaction's own write), which it
// shares with its other holders. Reusable.
class PinnedDocument {
 public:
  PinnedDocument() = default;
  PinnedDocument(PinnedDocument&& other) noexcept;
  PinnedDocument& operator=(PinnedDocument&& other) noexcept;

  const DocumentView& view() const { return view_; }
  const DocumentView* operator->() const { return &view_; }

  // Put a stored document there, then call Decode.
  storage::PinnedValue* value() { return &value_; }
  Status Decode();
  void Hold(std::shared_ptr<const Document> document);

 private:
  storage::PinnedValue value_;
  std::shared_ptr<const Document> held_;
  DocumentView view_;
};

}  // namespace sluice::db
