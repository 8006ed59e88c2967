// What a query planner asks before it reads: how much there is and where to cut it.
#include <algorithm>

#include "base/bytes.h"
#include "db/database.h"
#include "db/index.h"
#include "db/reader.h"
#include "db/stored_cursor.h"

namespace sluice::db {
namespace {

constexpr uint64_t kExactRows = 256;           // up to this many are counted
constexpr uint64_t kMinPartBytes = 128 << 10;  // a thread has to be worth its start

template <typename Cursor>
uint64_t CountUpTo(Cursor& cursor, uint64_t most) {
  uint64_t count = 0;
  while (count < most && cursor.Next()) ++count;
  return count;
}

// Eight bytes of a key as a number that sorts as they do.
uint64_t NumberAt(std::string_view key, size_t position) {
  uint64_t number = 0;
  for (size_t i = position; i < position + 8; ++i) {
    number = number << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return number;
}

// Finds keys by the bytes that lie before them. Stored keys are looked for only at the end: up to
// there, any bytes between the first and the last key do.
class Splitter {
 public:
  Splitter(const storage::Store& store, std::string prefix)
      : store_(store), prefix_(std::move(prefix)) {
    storage::IterateOptions options;
    options.lower = prefix_;
    options.upper = PrefixEnd(prefix_);
    rows_ = store_.NewIterator(storage::Family::kDocs, std::move(options));
    rows_->SeekToLast();
    if (!rows_->Valid()) return;
    const std::string last(rows_->key());
    rows_->SeekToFirst();
    if (!rows_->Valid()) return;
    const std::string_view first = rows_->key();
    common_ =
        std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first - first.begin();
    stem_ = first.substr(0, common_);
    low_ = NumberAt(first, common_);
    high_ = NumberAt(last, common_);
  }

  uint64_t BytesBefore(std::string_view row_key) const {
    return store_.EstimateBytes(storage::Family::kDocs, prefix_, row_key);
  }

  // The first key with at least `bytes` before it, about.
  std::string KeyAfter(uint64_t bytes) {
    uint64_t low = low_;
    uint64_t high = high_;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (BytesBefore(At(middle)) < bytes) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    rows_->Seek(At(low));
    return rows_->Valid() ? std::string(rows_->key().substr(kDocumentKeyPrefixBytes))
                          : std::string();
  }

 private:
  std::string At(uint64_t number) const {
    std::string key = stem_;
    AppendU64(&key, number);
    return key;
  }

  const storage::Store& store_;
  const std::string prefix_;
  std::unique_ptr<storage::Iterator> rows_;
  std::string stem_;  // what the first and the last row key have in common
  ptrdiff_t common_ = 0;
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

}  // namespace

// Keys are spread over the shards by their hash: one shard's cut is every shard's.
std::vector<std::string> Database::SplitPoints(KeyspaceId keyspace, size_t parts) const {
  std::vector<std::string> points;
  const std::string prefix = KeyspacePrefix(0, keyspace);
  const uint64_t bytes = store().EstimateBytes(storage::Family::kDocs, prefix, PrefixEnd(prefix));
  parts = std::min<size_t>(parts, bytes * shard_count() / kMinPartBytes);
  if (parts < 2) return points;
  Splitter splitter(store(), prefix);
  for (size_t i = 1; i < parts; ++i) {
    std::string key = splitter.KeyAfter(bytes / parts * i);
    if (!key.empty() && (points.empty() || points.back() < key)) points.push_back(std::move(key));
  }
  return points;
}

uint64_t Database::EstimateRows(KeyspaceId keyspace) const {
  StoredDocumentCursor cursor(*this, keyspace, {}, nullptr);
  const uint64_t counted = CountUpTo(cursor, kExactRows);
  if (counted < kExactRows) return counted;
  uint64_t rows = 0;
  for (ShardId shard = 0; shard < shard_count(); ++shard) {
    const std::string prefix = KeyspacePrefix(shard, keyspace);
    rows += store().Estimate(storage::Family::kDocs, prefix, PrefixEnd(prefix)).rows;
  }
  return std::max(counted, rows);
}

uint64_t Database::EstimateRows(const Index& index, std::string_view from,
                                std::string_view to) const {
  StoredIndexCursor cursor(*this, index, {std::string(from), std::string(to)}, nullptr);
  const uint64_t counted = CountUpTo(cursor, kExactRows);
  if (counted < kExactRows) return counted;
  uint64_t rows = 0;
  for (ShardId shard = 0; shard < shard_count(); ++shard) {
    const std::string prefix = index.Prefix(shard);
    const std::string lower = prefix + std::string(from);
    const std::string upper = to.empty() ? PrefixEnd(prefix) : prefix + std::string(to);
    rows += store().Estimate(storage::Family::kIndex, lower, upper).rows;
  }
  return std::max(counted, rows);
}

}  // namespace sluice::db
