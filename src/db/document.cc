// Stored form, version 1 (docs/formats/documents.md):
//
//   u8      1
//   u8      bits: 1 tombstone, 2 JSON, 4 has expiry, 8 has flags, 16 has xattrs, 32 expired
//   varint  sequence
//   u64     cas
//   varint  expiry_ms   if bit 4
//   varint  flags       if bit 8
//   string  xattrs      if bit 16
//   bytes   body
#include "db/document.h"

#include <utility>

#include "base/bytes.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

constexpr uint8_t kDocumentVersion = 1;
constexpr uint8_t kTombstoneBit = 1;
constexpr uint8_t kJsonBit = 2;
constexpr uint8_t kExpiryBit = 4;
constexpr uint8_t kFlagsBit = 8;
constexpr uint8_t kXattrsBit = 16;
constexpr uint8_t kExpiredBit = 32;
constexpr uint8_t kKnownBits = 63;

}  // namespace

DocumentView DocumentView::Of(const Document& document) {
  DocumentView view;
  view.body = document.body;
  view.datatype = document.datatype;
  view.flags = document.flags;
  view.expiry_ms = document.expiry_ms;
  view.xattrs = document.xattrs;
  view.cas = document.cas;
  view.sequence = document.sequence;
  return view;
}

Document DocumentView::Copy() const {
  Document copy;
  copy.body = body;
  copy.datatype = datatype;
  copy.flags = flags;
  copy.expiry_ms = expiry_ms;
  copy.xattrs = xattrs;
  copy.cas = cas;
  copy.sequence = sequence;
  return copy;
}

Status CheckDocumentSize(const DocumentView& document) {
  if (document.body.size() + document.xattrs.size() > kMaxDocumentBytes) {
    return Error(Code::kTooLarge, "document.too_large",
                 "a document has at most {} bytes, body and extended attributes together, got {}",
                 kMaxDocumentBytes, document.body.size() + document.xattrs.size());
  }
  if (document.xattrs.size() > kMaxXattrsBytes) {
    return Error(Code::kTooLarge, "document.xattrs_too_large",
                 "a document's extended attributes have at most {} bytes, got {}", kMaxXattrsBytes,
                 document.xattrs.size());
  }
  return OkStatus();
}

std::string EncodeDocumentHeader(const DocumentView& document) {
  uint8_t bits = 0;
  if (document.tombstone) bits |= kTombstoneBit;
  if (document.datatype == Datatype::kJson) bits |= kJsonBit;
  if (document.expiry_ms != 0) bits |= kExpiryBit;
  if (document.flags != 0) bits |= kFlagsBit;
  if (!document.xattrs.empty()) bits |= kXattrsBit;
  if (document.expired) bits |= kExpiredBit;
  std::string header;
  header.reserve(32 + document.xattrs.size());
  AppendU8(&header, kDocumentVersion);
  AppendU8(&header, bits);
  AppendVarint(&header, document.sequence);
  AppendU64(&header, document.cas);
  if (document.expiry_ms != 0) AppendVarint(&header, document.expiry_ms);
  if (document.flags != 0) AppendVarint(&header, document.flags);
  if (!document.xattrs.empty()) AppendString(&header, document.xattrs);
  return header;
}

std::string EncodeDocument(const DocumentView& document) {
  std::string stored = EncodeDocumentHeader(document);
  stored.append(document.body);
  return stored;
}

Result<DocumentView> DecodeDocument(std::string_view stored) {
  DocumentView document;
  RETURN_IF_ERROR(DecodeDocument(stored, &document));
  return document;
}

Status DecodeDocument(std::string_view stored, DocumentView* document) {
  ByteReader reader(stored);
  const uint8_t version = reader.U8();
  const uint8_t bits = reader.U8();
  if (version != kDocumentVersion || (bits & ~kKnownBits) != 0) {
    return Error(
        Code::kCorruption, "document.corrupt",
        "a stored document has format version {} and bits {}; this server knows version {}",
        version, bits, kDocumentVersion);
  }
  document->tombstone = (bits & kTombstoneBit) != 0;
  document->expired = (bits & kExpiredBit) != 0;
  document->datatype = (bits & kJsonBit) != 0 ? Datatype::kJson : Datatype::kBinary;
  document->sequence = reader.Varint();
  document->cas = reader.U64();
  document->expiry_ms = (bits & kExpiryBit) != 0 ? reader.Varint() : 0;
  const uint64_t flags = (bits & kFlagsBit) != 0 ? reader.Varint() : 0;
  document->flags = static_cast<uint32_t>(flags);
  document->xattrs = (bits & kXattrsBit) != 0 ? reader.String() : std::string_view();
  document->body = reader.Rest();
  if (!reader.ok() || flags > UINT32_MAX) {
    return Error(Code::kCorruption, "document.corrupt", "a stored document's header is malformed");
  }
  return OkStatus();
}

PinnedDocument::PinnedDocument(PinnedDocument&& other) noexcept { *this = std::move(other); }

PinnedDocument& PinnedDocument::operator=(PinnedDocument&& other) noexcept {
  if (this == &other) return *this;
  value_ = std::move(other.value_);
  held_ = std::move(other.held_);
  view_ = std::exchange(other.view_, DocumentView());
  // The bytes may have moved with the value; they were decoded before, so this can't fail.
  if (held_ == nullptr && !value_.view().empty()) (void)DecodeDocument(value_.view(), &view_);
  return *this;
}

Status PinnedDocument::Decode() {
  held_.reset();
  return DecodeDocument(value_.view(), &view_);
}

void PinnedDocument::Hold(std::shared_ptr<const Document> document) {
  value_.Reset();
  held_ = std::move(document);
  view_ = DocumentView::Of(*held_);
}

std::string KeyspacePrefix(ShardId shard, KeyspaceId keyspace) {
  std::string prefix = RowKey(shard);
  AppendU32(&prefix, keyspace);
  return prefix;
}

std::string DocumentKey(ShardId shard, KeyspaceId keyspace, std::string_view key) {
  std::string full;
  full.reserve(kDocumentKeyPrefixBytes + key.size());
  AppendU16(&full, shard);
  AppendU32(&full, keyspace);
  full.append(key);
  return full;
}

}  // namespace sluice::db
