// Cursors over stored rows: those of one keyspace or one index, of all shards in one order.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "db/database.h"
#include "db/document.h"
#include "db/index.h"
#include "db/merged_iterator.h"
#include "db/reader.h"

namespace sluice::db {

// The keys that a scan asks for.
DocumentRange RangeOf(const ScanOptions& options);

class StoredDocumentCursor final : public DocumentCursor {
 public:
  enum class Rows : uint8_t { kLive, kAll };  // kAll: tombstones and expired documents, too

  // Without a snapshot the cursor reads the present rows. The snapshot must outlive it.
  StoredDocumentCursor(const Database& database, KeyspaceId keyspace, const DocumentRange& range,
                       const DatabaseSnapshot* snapshot, Rows rows = Rows::kLive);

  bool Next() override;
  std::string_view key() const override { return rows_.key(); }
  const DocumentView& document() const override { return document_; }
  Status status() const override;

 private:
  Status PutInReadForm();

  const std::shared_ptr<const DocumentPolicy> policy_;  // null: documents are read as stored
  MergedIterator rows_;
  const uint64_t now_ms_;
  const Rows which_;
  const OnUnreadable on_unreadable_;
  bool started_ = false;
  DocumentView document_;
  std::string body_;  // of the document, if it is not the stored one
  Status decoded_;
};

class StoredIndexCursor final : public IndexCursor {
 public:
  StoredIndexCursor(const Database& database, const Index& index, const IndexRange& range,
                    const DatabaseSnapshot* snapshot);

  bool Next() override;
  std::string_view parts() const override { return row_.parts; }
  std::string_view key() const override { return row_.key; }
  // The row's place in the index: parts and key as they are stored.
  std::string_view place() const { return rows_.key(); }
  Status status() const override;

 private:
  MergedIterator rows_;
  const uint64_t now_ms_;
  bool started_ = false;
  IndexRow row_;
  uint64_t repeats_ = 0;  // how often this row comes again
  Status decoded_;
};

}  // namespace sluice::db
