#include "db/merged_iterator.h"

#include "base/check.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

std::string PrefixOfId(uint32_t id) {
  std::string prefix;
  AppendU32(&prefix, id);
  return prefix;
}

}  // namespace

MergedIterator::MergedIterator(const storage::Store& store, storage::Family family, Shards shards,
                               const Options& options)
    : prefix_(RowKey(shards.first, options.prefix)), direction_(options.direction) {
  const Range& range = options.range;
  if (!range.to.empty() && range.from >= range.to) return;
  for (uint16_t i = 0; i < shards.count; ++i) {
    const std::string prefix = RowKey(static_cast<ShardId>(shards.first + i), options.prefix);
    storage::IterateOptions bounds;
    bounds.snapshot = options.snapshot;
    bounds.fill_cache = options.caching == Caching::kFill;
    bounds.lower = prefix + range.from;
    bounds.upper = range.to.empty() ? PrefixEnd(prefix) : prefix + range.to;
    iterators_.push_back(store.NewIterator(family, std::move(bounds)));
  }
}

MergedIterator::MergedIterator(const storage::Store& store, storage::Family family, uint16_t shards,
                               uint32_t id, const Range& range, const storage::Snapshot* snapshot,
                               Direction direction, Caching caching)
    : MergedIterator(store, family, Shards{.first = 0, .count = shards},
                     {.prefix = PrefixOfId(id),
                      .range = range,
                      .snapshot = snapshot,
                      .direction = direction,
                      .caching = caching}) {
  SeekToFirst();
}

void MergedIterator::SeekToFirst() {
  for (const auto& iterator : iterators_) {
    if (direction_ == Direction::kForward) {
      iterator->SeekToFirst();
    } else {
      iterator->SeekToLast();
    }
  }
  Pick();
}

void MergedIterator::Seek(std::string_view key) {
  CHECK(direction_ == Direction::kForward);
  const auto first = ShardOfRow(prefix_);
  for (size_t i = 0; i < iterators_.size(); ++i) {
    const auto shard = static_cast<ShardId>(first + i);
    iterators_[i]->Seek(RowKey(shard, KeyInShard(prefix_)).append(key));
  }
  Pick();
}

void MergedIterator::Next() {
  if (direction_ == Direction::kForward) {
    current_->Next();
  } else {
    current_->Prev();
  }
  Pick();
}

void MergedIterator::Pick() {
  current_ = nullptr;
  for (const auto& iterator : iterators_) {
    if (!iterator->Valid()) {
      if (iterator->status().ok()) continue;
      current_ = nullptr;  // without this shard's rows the rest must not pass for all there is
      return;
    }
    if (current_ == nullptr) {
      current_ = iterator.get();
      continue;
    }
    const int order = iterator->key().substr(prefix_.size()).compare(key());
    if (direction_ == Direction::kForward ? order < 0 : order > 0) current_ = iterator.get();
  }
}

ShardId MergedIterator::shard() const { return ShardOfRow(current_->key()); }

Status MergedIterator::status() const {
  for (const auto& iterator : iterators_) RETURN_IF_ERROR(iterator->status());
  return OkStatus();
}

}  // namespace sluice::db
