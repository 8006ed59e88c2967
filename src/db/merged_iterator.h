// Walks the same range of one or all shards in one order of keys. The merge compares what follows
// the shard and the prefix.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class MergedIterator {
 public:
  struct Shards {
    ShardId first = 0;
    uint16_t count = 1;
  };
  struct Range {
    std::string from;  // inclusive, after the prefix
    std::string to;    // exclusive; empty for all
  };
  enum class Direction : uint8_t { kForward, kReverse };
  enum class Caching : uint8_t {
    kFill,
    kPass
  };  // kPass: rows that are read do not go into the cache
  struct Options {
    std::string prefix;  // of all keys, after the shard
    Range range;
    const storage::Snapshot* snapshot = nullptr;
    Direction direction = Direction::kForward;
    Caching caching = Caching::kFill;
  };

  // SeekToFirst comes first.
  MergedIterator(const storage::Store& store, storage::Family family, Shards shards,
                 const Options& options);
  // At the first row of the docs, index or revision family in which `id` follows the shard.
  MergedIterator(const storage::Store& store, storage::Family family, uint16_t shards, uint32_t id,
                 const Range& range, const storage::Snapshot* snapshot, Direction direction,
                 Caching caching);

  // The first one in the direction.
  void SeekToFirst();
  // The first one whose key is not below this one. Forward only.
  void Seek(std::string_view key);
  bool Valid() const { return current_ != nullptr; }
  void Next();
  std::string_view key() const { return current_->key().substr(prefix_.size()); }
  ShardId shard() const;
  std::string_view value() const { return current_->value(); }
  // Not OK if the iteration ended because of an error.
  Status status() const;

 private:
  void Pick();

  std::string prefix_;  // with the first shard
  Direction direction_;
  std::vector<std::unique_ptr<storage::Iterator>> iterators_;  // by shard, from the first one on
  storage::Iterator* current_ = nullptr;
};

}  // namespace sluice::db
