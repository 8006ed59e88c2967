#include "db/merged_iterator.h"

#include "base/bytes.h"
#include "db/document.h"

namespace sluice::db {

MergedIterator::MergedIterator(const storage::Store& store, storage::Family family, uint16_t shards,
                               uint32_t id, const Range& range, const storage::Snapshot* snapshot,
                               Direction direction, Caching caching)
    : direction_(direction) {
  if (!range.to.empty() && range.from >= range.to) return;
  for (ShardId shard = 0; shard < shards; ++shard) {
    const std::string prefix = KeyspacePrefix(shard, id);
    storage::IterateOptions options;
    options.snapshot = snapshot;
    options.fill_cache = caching == Caching::kFill;
    options.lower = prefix + range.from;
    options.upper = range.to.empty() ? PrefixEnd(prefix) : prefix + range.to;
    auto iterator = store.NewIterator(family, std::move(options));
    if (direction == Direction::kForward) {
      iterator->SeekToFirst();
    } else {
      iterator->SeekToLast();
    }
    iterators_.push_back(std::move(iterator));
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
    const int order = iterator->key().substr(kDocumentKeyPrefixBytes).compare(key());
    if (direction_ == Direction::kForward ? order < 0 : order > 0) current_ = iterator.get();
  }
}

std::string_view MergedIterator::key() const {
  return current_->key().substr(kDocumentKeyPrefixBytes);
}

Status MergedIterator::status() const {
  for (const auto& iterator : iterators_) RETURN_IF_ERROR(iterator->status());
  return OkStatus();
}

}  // namespace sluice::db
