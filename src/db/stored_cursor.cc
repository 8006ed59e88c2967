#include "db/stored_cursor.h"

#include "base/bytes.h"
#include "db/database_impl.h"

namespace sluice::db {
namespace {

using Direction = MergedIterator::Direction;

Direction DirectionOf(bool reverse) { return reverse ? Direction::kReverse : Direction::kForward; }

const storage::Snapshot* StoreSnapshot(const DatabaseSnapshot* snapshot) {
  return snapshot == nullptr ? nullptr : &snapshot->store();
}

uint64_t TimeOf(const Database& database, const DatabaseSnapshot* snapshot) {
  return snapshot == nullptr ? database.clock().WallMs() : snapshot->time_ms();
}

// A scan of a whole keyspace must not push blocks out of the cache that others need. A keyspace
// that takes little of the cache may stay there: the next scan then reads and decompresses nothing.
MergedIterator::Caching CachingOf(const Database& database, KeyspaceId keyspace,
                                  const DocumentRange& range) {
  constexpr uint64_t kCacheShare = 4;
  const bool all = range.part_of_all || (range.from.empty() && range.to.empty());
  if (!all) return MergedIterator::Caching::kFill;
  const storage::Store& store = StoreOf(database);
  uint64_t bytes = 0;
  for (ShardId shard = 0; shard < database.shard_count(); ++shard) {
    const std::string prefix = KeyspacePrefix(shard, keyspace);
    bytes += store.EstimateBytes(storage::Family::kDocs, prefix, PrefixEnd(prefix));
  }
  return bytes < store.cache_capacity() / kCacheShare ? MergedIterator::Caching::kFill
                                                      : MergedIterator::Caching::kPass;
}

}  // namespace

StoredDocumentCursor::StoredDocumentCursor(const Database& database, KeyspaceId keyspace,
                                           const DocumentRange& range,
                                           const DatabaseSnapshot* snapshot, Rows rows)
    : policy_(rows == Rows::kAll ? nullptr : database.read_forms().PolicyOf(keyspace, snapshot)),
      rows_(StoreOf(database), storage::Family::kDocs, database.shard_count(), keyspace,
            {range.from, range.to}, StoreSnapshot(snapshot), DirectionOf(range.reverse),
            CachingOf(database, keyspace, range)),
      now_ms_(TimeOf(database, snapshot)),
      which_(rows),
      on_unreadable_(range.on_unreadable) {}

bool StoredDocumentCursor::Next() {
  while (true) {
    if (started_ && rows_.Valid()) rows_.Next();
    started_ = true;
    if (!rows_.Valid() || !decoded_.ok()) return false;
    decoded_ = DecodeDocument(rows_.value(), &document_);
    if (!decoded_.ok()) return false;
    if (which_ == Rows::kAll) return true;
    if (!document_.LiveAt(now_ms_)) continue;
    if (policy_ == nullptr) return true;
    Status unreadable = PutInReadForm();
    if (unreadable.ok()) return true;
    if (on_unreadable_ && on_unreadable_(key(), unreadable)) continue;
    decoded_ = std::move(unreadable);
  }
}

Status StoredDocumentCursor::PutInReadForm() {
  if (!policy_->ReadsOtherwise(key(), document_)) return OkStatus();
  ASSIGN_OR_RETURN(std::optional<std::string> body, policy_->AsRead(key(), document_));
  if (body) {
    body_ = std::move(*body);
    document_.body = body_;
  }
  return OkStatus();
}

Status StoredDocumentCursor::status() const {
  RETURN_IF_ERROR(decoded_);
  return rows_.status();
}

StoredIndexCursor::StoredIndexCursor(const Database& database, const Index& index,
                                     const IndexRange& range, const DatabaseSnapshot* snapshot)
    : rows_(StoreOf(database), storage::Family::kIndex, database.shard_count(), index.id(),
            {range.from, range.to}, StoreSnapshot(snapshot), DirectionOf(range.reverse),
            MergedIterator::Caching::kFill),
      now_ms_(TimeOf(database, snapshot)) {}

bool StoredIndexCursor::Next() {
  if (repeats_ > 0) {
    --repeats_;
    return true;
  }
  while (true) {
    if (started_ && rows_.Valid()) rows_.Next();
    started_ = true;
    if (!rows_.Valid() || !decoded_.ok()) return false;
    const Result<IndexRow> row = DecodeIndexRow(rows_.key());
    const Result<IndexRowValue> value = IndexRowValue::Decode(rows_.value());
    if (!row || !value) {
      decoded_ = row ? value.error() : row.error();
      return false;
    }
    row_ = *row;
    if (value->expiry_ms != 0 && value->expiry_ms <= now_ms_) continue;
    repeats_ = value->copies - 1;
    return true;
  }
}

Status StoredIndexCursor::status() const {
  RETURN_IF_ERROR(decoded_);
  return rows_.status();
}

}  // namespace sluice::db
