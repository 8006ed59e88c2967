// Finishes changes that a crash interrupted, when a shard is gained, and finds out from which
// sequence on the log is complete, when the database is opened.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/mutex.h"
#include "db/catalog_edit.h"
#include "db/cursor.h"
#include "db/database_impl.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

// The ids in the keys of a family's rows, after the shard, that are not among `known` (sorted). It
// jumps from one id to the next.
Result<std::vector<uint32_t>> UnknownIds(const storage::Store& store, storage::Family family,
                                         ShardId shard, const std::vector<uint32_t>& known) {
  std::vector<uint32_t> unknown;
  storage::IterateOptions range;
  range.lower = KeyspacePrefix(shard, 0);
  range.upper = ShardEnd(shard);
  const auto iterator = store.NewIterator(family, std::move(range));
  iterator->SeekToFirst();
  while (iterator->Valid()) {
    ByteReader reader(iterator->key());
    reader.U16();
    const uint32_t id = reader.U32();
    if (!std::binary_search(known.begin(), known.end(), id)) unknown.push_back(id);
    iterator->Seek(PrefixEnd(KeyspacePrefix(shard, id)));
  }
  RETURN_IF_ERROR(iterator->status());
  return unknown;
}

void DeleteIds(storage::Batch* batch, storage::Family family, ShardId shard,
               const std::vector<uint32_t>& ids) {
  for (uint32_t id : ids) {
    const std::string prefix = KeyspacePrefix(shard, id);
    batch->DeleteRange(family, prefix, PrefixEnd(prefix));
  }
}

}  // namespace

// A catalog change and its rows in shard 0 are one batch; the other shards follow. A crash in
// between leaves rows of dropped keyspaces and indexes. Nobody can reach them, because ids are not
// reused.
Status DatabaseImpl::CleanUpShard(ShardId shard) {
  return shard == kDefinitionsShard ? OkStatus() : DropOrphans(shard);
}

// What goes through all shards.
Status DatabaseImpl::CleanUpCatalog() {
  RETURN_IF_ERROR(DropIncompleteFollowers());
  RETURN_IF_ERROR(EmptyInvalidIndexes());
  return RemakeOutdatedIndexes();
}

// Writes do not maintain an index that can't be compiled, so its rows are useless from now on.
Status DatabaseImpl::EmptyInvalidIndexes() {
  std::vector<std::pair<KeyspaceId, IndexId>> invalid;
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  for (const auto& [id, keyspace] : catalog->keyspaces()) {
    for (const auto& index : keyspace->indexes) {
      if (index->state() == Index::State::kInvalid) invalid.emplace_back(id, index->id());
    }
  }
  if (invalid.empty()) return OkStatus();
  return ChangeCatalog([&](CatalogEdit& edit) {
    for (const auto& [keyspace, index] : invalid) {
      edit.SetIndexState(keyspace, index, Index::State::kInvalid);
    }
    return OkStatus();
  });
}

// The index rows of some types are from a server that read their documents in another form. These
// indexes are built anew in the background, as after a change of types.
Status DatabaseImpl::RemakeOutdatedIndexes() {
  ASSIGN_OR_RETURN(const std::set<KeyspaceId> outdated, CatalogEdit::OutdatedTypes(*store));
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  for (const KeyspaceId id : outdated) {
    const KeyspaceInfo* const keyspace = catalog->Find(id);
    // Indexes of types that can't be used are made anew when the types can be used again.
    if (keyspace == nullptr || !keyspace->policy->CheckUsable().ok()) continue;
    RETURN_IF_ERROR(ChangeCatalog([&](CatalogEdit& edit) -> Status {
      const auto made =
          edit.SetTypes(id, keyspace->types, keyspace->policy, CatalogEdit::ReadRules::kChanged);
      return made ? OkStatus() : made.error();
    }));
  }
  return OkStatus();
}

Status DatabaseImpl::DropOrphans(ShardId shard) {
  using storage::Family;
  std::vector<uint32_t> keyspaces;
  std::vector<uint32_t> indexes;
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  for (const auto& [id, keyspace] : catalog->keyspaces()) {
    keyspaces.push_back(id);
    for (const auto& index : keyspace->indexes) indexes.push_back(index->id());
  }
  std::sort(indexes.begin(), indexes.end());
  ASSIGN_OR_RETURN(const auto dead_keyspaces, UnknownIds(*store, Family::kDocs, shard, keyspaces));
  ASSIGN_OR_RETURN(const auto dead_revisions,
                   UnknownIds(*store, Family::kRevision, shard, keyspaces));
  ASSIGN_OR_RETURN(const auto dead_indexes, UnknownIds(*store, Family::kIndex, shard, indexes));
  if (dead_keyspaces.empty() && dead_indexes.empty() && dead_revisions.empty()) return OkStatus();
  return committers[shard]->Run([&](Committer::TaskContext& context) {
    DeleteIds(&context.batch, Family::kDocs, shard, dead_keyspaces);
    DeleteIds(&context.batch, Family::kRevision, shard, dead_revisions);
    DeleteIds(&context.batch, Family::kIndex, shard, dead_indexes);
    return OkStatus();
  });
}

// A crash between the steps of CreateFollower or DropFollower leaves a follower without all of its
// cursors, or cursors without a follower. Neither was acknowledged as made; both are deleted.
Status DatabaseImpl::DropIncompleteFollowers() {
  const MutexLock alone(catalog_change_mutex_);
  std::map<std::string, size_t> cursors;
  const auto iterator = store->NewIterator(storage::Family::kCursor, {});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const CursorId cursor, DecodeCursorKey(iterator->key()));
    ++cursors[cursor.follower];
  }
  RETURN_IF_ERROR(iterator->status());
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  for (const auto& [name, follower] : catalog->followers()) {
    const size_t expected = static_cast<size_t>(follower.lanes) * format.shards;
    if (cursors[name] != expected) RETURN_IF_ERROR(DropFollower(name));
  }
  for (const auto& [name, count] : cursors) {
    if (catalog->FindFollower(name) == nullptr) RETURN_IF_ERROR(DeleteCursors(name));
  }
  return OkStatus();
}

// A cursor moves forward only over a complete log, so the log is complete after the lowest cursor.
Status DatabaseImpl::LoadCoverage(ShardId shard) {
  std::map<std::pair<KeyspaceId, LogContent>, Sequence> since;
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  storage::IterateOptions range;
  range.lower = RowKey(shard);
  range.upper = ShardEnd(shard);
  const auto iterator = store->NewIterator(storage::Family::kCursor, std::move(range));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const CursorId cursor, DecodeCursorKey(iterator->key()));
    ASSIGN_OR_RETURN(const CursorState state, DecodeCursor(iterator->value()));
    const FollowerInfo* follower = catalog->FindFollower(cursor.follower);
    if (follower == nullptr) continue;
    const Sequence done = state.position.done();
    const auto lower = [&](KeyspaceId keyspace, LogContent content) {
      const auto [entry, fresh] = since.try_emplace({keyspace, content}, done);
      if (!fresh) entry->second = std::min(entry->second, done);
    };
    for (KeyspaceId keyspace : follower->keyspaces) {
      lower(keyspace, LogContent::kKeys);
      if (follower->needs_after) lower(keyspace, LogContent::kDocuments);
    }
  }
  RETURN_IF_ERROR(iterator->status());
  for (const auto& [where, sequence] : since) {
    const auto& [keyspace, content] = where;
    coverage.Start(keyspace, shard, content, sequence);
  }
  return OkStatus();
}

}  // namespace sluice::db
