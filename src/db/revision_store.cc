#include "db/revision_store.h"

#include <algorithm>

#include "base/bytes.h"
#include "db/conflict_retry.h"
#include "db/database_impl.h"
#include "db/merged_iterator.h"
#include "db/row_key.h"
#include "db/stored_cursor.h"

namespace sluice::db {

Result<RevisionList> RevisionStore::Stored(KeyspaceId keyspace, std::string_view key) const {
  const std::string row =
      RevisionRowKey(database_.ShardOf(keyspace, key), keyspace, key, kRevisionListVersion);
  storage::PinnedValue stored;
  ASSIGN_OR_RETURN(const bool found, impl_->store->Get(storage::Family::kRevision, row, &stored));
  return found ? RevisionList::Decode(stored.view()) : RevisionList();
}

Result<bool> RevisionStore::GetByKey(const DocumentPolicy& policy, KeyspaceId keyspace,
                                     std::string_view key, PinnedDocument* document,
                                     const DatabaseSnapshot* snapshot) const {
  const auto name = policy.RevisionOf(key);
  if (!name) return false;
  ASSIGN_OR_RETURN(const bool kept, Has(keyspace, name->key, name->version));
  if (!kept) return false;
  const std::string row =
      RevisionRowKey(database_.ShardOf(keyspace, name->key), keyspace, name->key, name->version);
  ASSIGN_OR_RETURN(const bool found,
                   impl_->store->Get(storage::Family::kRevision, row, document->value(),
                                     snapshot == nullptr ? nullptr : &snapshot->store()));
  if (!found) return false;
  RETURN_IF_ERROR(document->Decode());
  return true;
}

// A list that was made under other limits is read under the present ones.
Result<std::vector<Revision>> RevisionStore::List(KeyspaceId keyspace, std::string_view key) const {
  ASSIGN_OR_RETURN(RevisionList list, Stored(keyspace, key));
  if (list.empty()) return std::vector<Revision>();
  const auto policy = database_.read_forms().PolicyOf(keyspace, nullptr);
  if (policy != nullptr) {
    PinnedDocument document;
    ASSIGN_OR_RETURN(const bool live, database_.read_forms().GetStored(keyspace, key, &document));
    const RevisionLimits* const limits = policy->LimitsOf(key, live ? &document.view() : nullptr);
    if (limits != nullptr) list.Trim(*limits, impl_->clock.WallMs());
  }
  return list.revisions();
}

Result<bool> RevisionStore::Get(KeyspaceId keyspace, std::string_view key, uint64_t version,
                                PinnedDocument* document) const {
  if (version == kRevisionListVersion) return false;
  const std::string row = RevisionRowKey(database_.ShardOf(keyspace, key), keyspace, key, version);
  ASSIGN_OR_RETURN(const bool found,
                   impl_->store->Get(storage::Family::kRevision, row, document->value()));
  if (!found) return false;
  RETURN_IF_ERROR(document->Decode());
  return true;
}

Result<bool> RevisionStore::Has(KeyspaceId keyspace, std::string_view key, uint64_t version) const {
  ASSIGN_OR_RETURN(const std::vector<Revision> kept, List(keyspace, key));
  return std::ranges::find(kept, version, &Revision::version) != kept.end();
}

Result<uint64_t> RevisionStore::Erase(KeyspaceId keyspace, std::string_view key) {
  const ShardId shard = database_.ShardOf(keyspace, key);
  const std::string list_row = RevisionRowKey(shard, keyspace, key, kRevisionListVersion);
  for (ConflictRetry retry;;) {
    std::string stored;
    ASSIGN_OR_RETURN(const bool found,
                     impl_->store->Get(storage::Family::kRevision, list_row, &stored));
    if (!found) return 0;
    ASSIGN_OR_RETURN(const RevisionList list, RevisionList::Decode(stored));
    Commit commit;
    commit.shard = shard;
    const auto remove = [&](std::string_view row,
                            std::optional<std::optional<std::string>> expected) {
      commit.rows.push_back({RowFamily::kRevision, shard, std::string(KeyInShard(row)),
                             std::nullopt, std::move(expected)});
    };
    remove(list_row, {{stored}});
    for (const Revision& revision : list.revisions()) {
      remove(RevisionRowKey(shard, keyspace, key, revision.version), std::nullopt);
    }
    const Status applied = database_.Apply(std::move(commit)).status;
    if (applied.ok()) return list.revisions().size();
    if (!retry.Again(applied)) return Unexpected(applied);
  }
}

Status RevisionStore::ScanKeys(KeyspaceId keyspace, const ScanOptions& options,
                               const KeyVisitor& visitor) const {
  const DocumentRange range = RangeOf(options);
  MergedIterator rows(
      *impl_->store, storage::Family::kRevision, database_.shard_count(), keyspace,
      {range.from, range.to}, options.snapshot == nullptr ? nullptr : &options.snapshot->store(),
      range.reverse ? MergedIterator::Direction::kReverse : MergedIterator::Direction::kForward,
      MergedIterator::Caching::kPass);
  for (; rows.Valid(); rows.Next()) {
    std::string_view key = rows.key();
    if (key.size() < sizeof(uint64_t)) continue;
    ByteReader version(key.substr(key.size() - sizeof(uint64_t)));
    if (version.U64() != kRevisionListVersion) continue;
    key.remove_suffix(sizeof(uint64_t));
    if (!visitor(key)) return OkStatus();
  }
  return rows.status();
}

}  // namespace sluice::db
