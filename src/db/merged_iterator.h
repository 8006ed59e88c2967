// Walks the same range of every shard in one key order. Rows of the docs and index families begin
// with a shard (two bytes) and an id (four); the merge compares the rest.
#pragma once

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
  struct Range {
    std::string from;  // inclusive, after the prefix
    std::string to;    // exclusive; empty for all
  };
  enum class Direction : uint8_t { kForward, kReverse };
  enum class Caching : uint8_t {
    kFill,
    kPass
  };  // kPass: rows that are read do not go into the cache

  MergedIterator(const storage::Store& store, storage::Family family, uint16_t shards, uint32_t id,
                 const Range& range, const storage::Snapshot* snapshot, Direction direction,
                 Caching caching);

  bool Valid() const { return current_ != nullptr; }
  void Next();
  std::string_view key() const;  // without the prefix
  std::string_view value() const { return current_->value(); }
  Status status() const;

 private:
  void Pick();

  const Direction direction_;
  std::vector<std::unique_ptr<storage::Iterator>> iterators_;
  storage::Iterator* current_ = nullptr;
};

}  // namespace sluice::db
