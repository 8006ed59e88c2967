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

// Rows at places spread over a range, in order: the first one below each node of the trie that the
// keys make, at the depth where there are enough nodes. Keys of one pattern (numbers of one width,
// UUIDs) have about as many rows below each.
class Sampler {
 public:
  Sampler(const storage::Store& store, const std::string& prefix) {
    storage::IterateOptions options;
    options.lower = prefix;
    options.upper = PrefixEnd(prefix);
    rows_ = store.NewIterator(storage::Family::kDocs, std::move(options));
  }

  std::vector<std::string> Sample() {
    std::vector<Node> nodes = Root();
    bool deeper = true;
    while (deeper && nodes.size() < kSamples && seeks_ < kMaxSeeks) {
      std::vector<Node> below;
      deeper = false;
      for (Node& node : nodes) {
        if (node.depth >= node.first.size() && node.single) {
          below.push_back(std::move(node));
        } else {
          deeper = true;
          AddChildren(node, &below);
        }
      }
      nodes = std::move(below);
    }
    std::vector<std::string> keys;
    for (Node& node : nodes) keys.push_back(std::move(node.first));
    return keys;
  }

 private:
  static constexpr size_t kSamples = 64;
  static constexpr size_t kMaxSeeks = 1000;

  struct Node {
    std::string first;    // row key
    size_t depth = 0;     // its rows share so many bytes
    bool single = false;  // stands for the one row whose key ends here
  };

  std::vector<Node> Root() {
    rows_->SeekToLast();
    if (!rows_->Valid()) return {};
    const std::string last(rows_->key());
    rows_->SeekToFirst();
    if (!rows_->Valid()) return {};
    Node root{std::string(rows_->key()), 0};
    while (root.depth < std::min(root.first.size(), last.size()) &&
           root.first[root.depth] == last[root.depth]) {
      ++root.depth;
    }
    return {std::move(root)};
  }

  void AddChildren(const Node& node, std::vector<Node>* children) {
    std::string at = node.first;
    const std::string stem = at.substr(0, node.depth);
    while (true) {
      ++seeks_;
      rows_->Seek(at);
      if (!rows_->Valid() || !rows_->key().starts_with(stem)) return;
      const std::string_view key = rows_->key();
      const bool ends = key.size() == node.depth;
      children->push_back({std::string(key), node.depth + (ends ? 0 : 1), ends});
      if (!ends && key[node.depth] == '\xff') return;
      at = stem;
      at.push_back(ends ? '\0' : static_cast<char>(key[node.depth] + 1));
    }
  }

  std::unique_ptr<storage::Iterator> rows_;
  size_t seeks_ = 0;
};

}  // namespace

// Keys are spread over the shards by their hash: one shard's cut is every shard's.
std::vector<std::string> Database::SplitPoints(KeyspaceId keyspace, size_t parts) const {
  std::vector<std::string> points;
  const std::string prefix = KeyspacePrefix(0, keyspace);
  const uint64_t bytes = store().EstimateBytes(storage::Family::kDocs, prefix, PrefixEnd(prefix));
  parts = std::min<size_t>(parts, bytes * shard_count() / kMinPartBytes);
  if (parts < 2) return points;
  const std::vector<std::string> samples = Sampler(store(), prefix).Sample();
  // Files tell how much lies before a sample; of what is in memory each has an equal share.
  const uint64_t in_files =
      store().EstimateFileBytes(storage::Family::kDocs, prefix, PrefixEnd(prefix));
  const uint64_t share = (bytes - std::min(bytes, in_files)) / std::max<size_t>(1, samples.size());
  for (size_t i = 0; i < samples.size() && points.size() + 1 < parts; ++i) {
    const uint64_t before =
        i * share + store().EstimateFileBytes(storage::Family::kDocs, prefix, samples[i]);
    if (before < bytes / parts * (points.size() + 1)) continue;
    points.push_back(samples[i].substr(kDocumentKeyPrefixBytes));
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
