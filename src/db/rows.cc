#include "db/rows.h"

#include <utility>

#include "base/check.h"
#include "db/row_key.h"

namespace sluice::db {

storage::Family StoredFamily(RowFamily family) {
  switch (family) {
    case RowFamily::kMeta:
      return storage::Family::kMeta;
    case RowFamily::kTimer:
      return storage::Family::kTimer;
    case RowFamily::kFailure:
      return storage::Family::kFailure;
    case RowFamily::kRun:
      return storage::Family::kRun;
    case RowFamily::kRevision:
      return storage::Family::kRevision;
    case RowFamily::kExpiry:
      return storage::Family::kExpiry;
  }
  CHECK(false);
}

namespace {

MergedIterator IterateRows(const storage::Store& store, RowFamily family,
                           MergedIterator::Shards shards, const RowRange& range) {
  const bool reverse = range.order == RowRange::Order::kReverse;
  return {store,
          StoredFamily(family),
          shards,
          {.prefix = {},
           .range = {range.from, range.to},
           .direction = reverse ? MergedIterator::Direction::kReverse
                                : MergedIterator::Direction::kForward}};
}

}  // namespace

Result<bool> Rows::Get(RowFamily family, ShardId shard, std::string_view key,
                       std::string* value) const {
  return store_.Get(StoredFamily(family), RowKey(shard, key), value);
}

std::unique_ptr<RowIterator> Rows::NewIterator(RowFamily family, ShardId shard,
                                               const RowRange& range) const {
  return std::make_unique<RowIterator>(
      IterateRows(store_, family, {.first = shard, .count = 1}, range));
}

std::unique_ptr<RowIterator> Rows::NewIteratorOfAll(RowFamily family, const RowRange& range) const {
  return std::make_unique<RowIterator>(
      IterateRows(store_, family, {.first = 0, .count = shards_}, range));
}

}  // namespace sluice::db
