// Sizes of ranges, and keys that divide them, for the query planner.
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

// Samples a range through the trie of its keys, down to a depth with enough nodes. If the keys have
// one pattern (numbers of one width, UUIDs), all nodes have about the same number of rows below
// them.
class Sampler {
 public:
  Sampler(const storage::Store& store, storage::Family family, std::string from, std::string to) {
    storage::IterateOptions options;
    options.lower = std::move(from);
    options.upper = std::move(to);
    rows_ = store.NewIterator(family, std::move(options));
  }

  // Row keys at places spread over the range, in order: the first one below each node.
  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    for (Node& node : Nodes()) keys.push_back(std::move(node.first));
    return keys;
  }

  // An estimate of the number of rows: it follows a few nodes down, which stand for the others.
  uint64_t Rows() {
    const std::vector<Node> nodes = Nodes();
    const size_t step = std::max<size_t>(1, nodes.size() / kProbes);
    double sum = 0;
    size_t probes = 0;
    for (size_t i = step / 2; i < nodes.size(); i += step, ++probes) sum += RowsBelow(nodes[i]);
    if (probes == 0) return 0;
    return static_cast<uint64_t>(sum / static_cast<double>(probes) *
                                 static_cast<double>(nodes.size()));
  }

 private:
  static constexpr size_t kSamples = 64;
  static constexpr size_t kProbes = 16;
  static constexpr size_t kMaxSeeks = 1000;  // past it the depth reached is deep enough
  static constexpr size_t kCounted = 64;

  struct Node {
    std::string first;    // row key
    size_t depth = 0;     // its rows share so many bytes
    bool single = false;  // stands for the one row whose key ends here
  };

  std::vector<Node> Nodes() {
    std::vector<Node> nodes = Root();
    bool deeper = true;
    while (deeper && nodes.size() < kSamples && seeks_ < kMaxSeeks) {
      std::vector<Node> below;
      deeper = false;
      for (Node& node : nodes) {
        if (node.single) {
          below.push_back(std::move(node));
        } else {
          deeper = true;
          AddChildren(node, &below);
        }
      }
      nodes = std::move(below);
    }
    return nodes;
  }

  double RowsBelow(Node node) {
    double factor = 1;
    while (!node.single) {
      const size_t counted = CountBelow(node);
      if (counted < kCounted || seeks_ >= 2 * kMaxSeeks) {
        return factor * static_cast<double>(counted);
      }
      std::vector<Node> children;
      AddChildren(node, &children);
      factor *= static_cast<double>(children.size());
      node = std::move(children[children.size() / 2]);
    }
    return factor;
  }

  size_t CountBelow(const Node& node) {
    const std::string_view stem = std::string_view(node.first).substr(0, node.depth);
    size_t count = 0;
    ++seeks_;
    for (rows_->Seek(node.first); rows_->Valid() && count < kCounted; rows_->Next()) {
      if (!rows_->key().starts_with(stem)) break;
      ++count;
    }
    return count;
  }

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

// Table files know how many rows they have. The rows in memory are sampled, unless they are few.
uint64_t RowsIn(const storage::Store& store, storage::Family family, const std::string& from,
                const std::string& to) {
  constexpr uint64_t kLittle = 4;  // this part of the rows in files
  if (store.MemoryBytes(family) < store.EstimateFileBytes(family, from, to) / kLittle) {
    return store.EstimateFileRows(family, from, to);
  }
  return Sampler(store, family, from, to).Rows();
}

}  // namespace

// Keys are spread over the shards by their hash, so the keys that divide one shard divide all.
std::vector<std::string> Estimates::SplitPoints(KeyspaceId keyspace, size_t parts) const {
  std::vector<std::string> points;
  const std::string prefix = KeyspacePrefix(0, keyspace);
  const uint64_t bytes =
      StoreOf(database_).EstimateBytes(storage::Family::kDocs, prefix, PrefixEnd(prefix));
  parts = std::min<size_t>(parts, bytes * database_.shard_count() / kMinPartBytes);
  if (parts < 2) return points;
  const std::vector<std::string> samples =
      Sampler(StoreOf(database_), storage::Family::kDocs, prefix, PrefixEnd(prefix)).Keys();
  // Table files tell how many bytes lie before a sample; the rows in memory are divided evenly.
  const uint64_t in_files =
      StoreOf(database_).EstimateFileBytes(storage::Family::kDocs, prefix, PrefixEnd(prefix));
  const uint64_t share = (bytes - std::min(bytes, in_files)) / std::max<size_t>(1, samples.size());
  for (size_t i = 0; i < samples.size() && points.size() + 1 < parts; ++i) {
    const uint64_t before = i * share + StoreOf(database_).EstimateFileBytes(storage::Family::kDocs,
                                                                             prefix, samples[i]);
    if (before < bytes / parts * (points.size() + 1)) continue;
    points.push_back(samples[i].substr(kDocumentKeyPrefixBytes));
  }
  return points;
}

uint64_t Estimates::Rows(KeyspaceId keyspace) const {
  // Rows as they are stored: planning must not run the scripts that reading may need.
  StoredDocumentCursor cursor(database_, keyspace, {}, nullptr, StoredDocumentCursor::Rows::kAll);
  const uint64_t now_ms = database_.clock().WallMs();
  uint64_t counted = 0;
  while (counted < kExactRows && cursor.Next()) {
    if (cursor.document().LiveAt(now_ms)) ++counted;
  }
  if (counted < kExactRows) return counted;
  uint64_t rows = 0;
  for (ShardId shard = 0; shard < database_.shard_count(); ++shard) {
    const std::string prefix = KeyspacePrefix(shard, keyspace);
    rows += RowsIn(StoreOf(database_), storage::Family::kDocs, prefix, PrefixEnd(prefix));
  }
  return std::max(counted, rows);
}

uint64_t Estimates::Rows(const Index& index, std::string_view from, std::string_view to) const {
  if (index.definition().primary) return Rows(index.keyspace());
  StoredIndexCursor cursor(database_, index, {std::string(from), std::string(to)}, nullptr);
  const uint64_t counted = CountUpTo(cursor, kExactRows);
  if (counted < kExactRows) return counted;
  uint64_t rows = 0;
  for (ShardId shard = 0; shard < database_.shard_count(); ++shard) {
    const std::string prefix = index.Prefix(shard);
    const std::string lower = prefix + std::string(from);
    const std::string upper = to.empty() ? PrefixEnd(prefix) : prefix + std::string(to);
    rows += RowsIn(StoreOf(database_), storage::Family::kIndex, lower, upper);
  }
  return std::max(counted, rows);
}

}  // namespace sluice::db
