#include "db/operations.h"

#include <filesystem>

#include "db/database_impl.h"
#include "db/expiry.h"
#include "db/row_key.h"

namespace sluice::db {

Status Operations::Backup(const std::string& directory) const {
  std::error_code error;
  if (std::filesystem::exists(directory, error)) {
    return Error(Code::kAlreadyExists, "backup.target_not_empty",
                 "{} exists already; a backup is made in a new directory", directory);
  }
  Status made = MakeDirectory(directory);
  if (made.ok()) made = impl_->store->Checkpoint(StorePath(directory));
  // Written last: a backup without it is incomplete.
  if (made.ok()) made = WriteFormat(directory, impl_->format);
  // The incomplete backup would be in the way of the next attempt.
  if (!made.ok()) std::filesystem::remove_all(directory, error);
  return made;
}

Status Operations::Verify() const { return impl_->store->Verify(); }

DatabaseStats Operations::Stats() const {
  DatabaseStats stats;
  for (const auto& committer : impl_->committers) {
    const CommitterStats from = committer->Stats();
    ShardStats shard;
    shard.sequence = committer->last_sequence();
    shard.trimmed = committer->trimmed();
    shard.commits = from.commits;
    shard.groups = from.groups;
    shard.rejected = from.rejected;
    shard.writes = from.writes;
    shard.queued = from.queued;
    shard.sync_ns = from.append_ns;
    stats.shards.push_back(shard);
    if (!from.failure.ok()) {
      stats.read_only = true;
      stats.failure = from.failure.ToString();
    }
  }
  stats.store = impl_->store->Stats();
  stats.expired = impl_->expired;
  return stats;
}

Result<uint64_t> Operations::ExpireNow() { return impl_->Expire(); }

uint64_t Operations::StampAccessesNow() { return impl_->StampAccesses(); }

Traffic& Operations::traffic() const { return impl_->traffic; }

KeyspaceTraffic Operations::TrafficOf(KeyspaceId keyspace) const {
  impl_->CompareSamples();
  return impl_->traffic.Of(keyspace);
}

Status Operations::TrimNow() { return impl_->TrimAll(); }

Durability Operations::durability() const { return impl_->options.durability; }

Result<uint64_t> Operations::NextExpiryMs(uint64_t from_ms) const {
  uint64_t first_ms = UINT64_MAX;
  for (ShardId shard = 0; shard < impl_->format.shards; ++shard) {
    storage::IterateOptions range;
    range.lower = ExpiryKeyFrom(shard, from_ms);
    range.upper = ShardEnd(shard);
    const auto rows = impl_->store->NewIterator(storage::Family::kExpiry, std::move(range));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      ASSIGN_OR_RETURN(const ExpiryRow row, DecodeExpiryRow(rows->key(), rows->value()));
      if (row.due_ms >= first_ms) break;
      if (row.kind == ExpiryKind::kDocument) first_ms = row.due_ms;
    }
    RETURN_IF_ERROR(rows->status());
  }
  return first_ms;
}

}  // namespace sluice::db
