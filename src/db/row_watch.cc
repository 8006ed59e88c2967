#include "db/row_watch.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"

namespace sluice::db {
namespace {

// Definitions are rows of the first shard.
constexpr ShardId kDefinitionShard = 0;

// The keys that begin with `prefix`, of sorted ones.
std::span<const std::string> WithPrefix(std::span<const std::string> keys,
                                        const std::string& prefix) {
  const auto begin = std::ranges::lower_bound(keys, prefix);
  const auto end = std::partition_point(
      begin, keys.end(), [&](const std::string& key) { return key.starts_with(prefix); });
  return {begin, end};
}

}  // namespace

std::shared_ptr<void> WatchMetaKeys(Database& database, std::string prefix, KeysListener changed) {
  return database.followers().OnCommitted(
      kDefinitionShard,
      [prefix = std::move(prefix), changed = std::move(changed)](const Committed& committed) {
        const std::span<const std::string> keys = WithPrefix(committed.meta_keys, prefix);
        if (!keys.empty()) changed(keys);
      });
}

RowWatch::RowWatch(Database& database, std::string prefix, Refresh refresh)
    : database_(database), prefix_(std::move(prefix)), refresh_(std::move(refresh)) {
  subscription_ = WatchMetaKeys(database_, prefix_,
                                [this](std::span<const std::string> keys) { Changed(keys); });
}

// A row that changes meanwhile waits for the lock on the committer's thread, and comes after the
// state of it that is read here.
Status RowWatch::Load() {
  const MutexLock lock(mutex_);
  const auto rows = database_.rows().NewIterator(RowFamily::kMeta, kDefinitionsShard,
                                                 {.from = prefix_, .to = PrefixEnd(prefix_)});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    RETURN_IF_ERROR(
        refresh_(std::string(rows->key().substr(prefix_.size())), std::string(rows->value())));
  }
  return rows->status();
}

void RowWatch::Changed(std::span<const std::string> keys) {
  const MutexLock lock(mutex_);
  for (const std::string& key : keys) {
    std::string value;
    const Result<bool> found =
        database_.rows().Get(RowFamily::kMeta, kDefinitionsShard, key, &value);
    const Status refreshed = found
                                 ? refresh_(key.substr(prefix_.size()),
                                            *found ? std::optional(std::move(value)) : std::nullopt)
                                 : found.error();
    if (refreshed.ok()) continue;
    log::Error("a changed row can't be used; what was loaded of it stays",
               {{"row", key}, {"error", refreshed.ToString()}});
  }
}

}  // namespace sluice::db
