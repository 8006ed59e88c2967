// Catalog changes, followers and index building.
//
// A catalog change is a task of shard 0's committer, followed by a task of every other shard. When
// it returns, no group that is built from then on sees the old catalog: what follows (building an
// index, making cursors) relies on that.
#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "db/database_impl.h"
#include "db/index.h"

namespace sluice::db {
namespace {

constexpr size_t kIndexChunkDocuments = 512;
constexpr size_t kIndexChunkBytes = 4 << 20;

void DeleteId(storage::Batch* batch, storage::Family family, ShardId shard, uint32_t id) {
  const std::string prefix = KeyspacePrefix(shard, id);
  batch->DeleteRange(family, prefix, PrefixEnd(prefix));
}

bool LogsDocuments(const KeyspaceInfo* keyspace) {
  return keyspace != nullptr && keyspace->logged && keyspace->log_after;
}

}  // namespace

Status Database::Impl::ChangeCatalog(const CatalogChange& change) {
  std::shared_ptr<const Catalog> before;
  std::shared_ptr<const Catalog> after;
  std::vector<KeyspaceId> dropped_keyspaces;
  std::vector<IndexId> dropped_indexes;
  const auto delete_dropped = [&](Committer::TaskContext& context, ShardId shard) {
    for (KeyspaceId id : dropped_keyspaces) {
      DeleteId(&context.batch, storage::Family::kDocs, shard, id);
    }
    for (IndexId id : dropped_indexes) {
      DeleteId(&context.batch, storage::Family::kIndex, shard, id);
    }
    const Sequence since = context.state.sequence;
    return [this, &before, &after, shard, since] { UpdateCoverage(*before, *after, shard, since); };
  };
  RETURN_IF_ERROR(committers[0]->Run([&](Committer::TaskContext& context) -> Status {
    before = CurrentCatalog();
    CatalogEdit edit(*before);
    RETURN_IF_ERROR(change(edit));
    for (const RowWrite& row : edit.rows()) {
      if (row.value) {
        context.batch.Put(row.family, row.key, *row.value);
      } else {
        context.batch.Delete(row.family, row.key);
      }
    }
    dropped_keyspaces = edit.dropped_keyspaces();
    dropped_indexes = edit.dropped_indexes();
    after = edit.Finish();
    context.published = [this, &after, update = delete_dropped(context, 0)] {
      {
        const std::lock_guard lock(catalog_mutex_);
        catalog_ = after;
      }
      update();
    };
    return OkStatus();
  }));
  for (ShardId shard = 1; shard < format.shards; ++shard) {
    RETURN_IF_ERROR(committers[shard]->Run([&](Committer::TaskContext& context) -> Status {
      context.published = delete_dropped(context, shard);
      return OkStatus();
    }));
  }
  return OkStatus();
}

void Database::Impl::UpdateCoverage(const Catalog& before, const Catalog& after, ShardId shard,
                                    Sequence since) {
  for (const auto& [id, keyspace] : before.keyspaces()) {
    if (LogsDocuments(keyspace.get()) && !LogsDocuments(after.Find(id))) coverage.End(id, shard);
  }
  for (const auto& [id, keyspace] : after.keyspaces()) {
    if (LogsDocuments(keyspace.get()) && !LogsDocuments(before.Find(id))) {
      coverage.Start(id, shard, since);
    }
  }
}

Status Database::CreateBucket(const std::string& bucket) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.CreateBucket(bucket); });
}
Status Database::DropBucket(const std::string& bucket) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropBucket(bucket); });
}
Status Database::CreateScope(const std::string& bucket, const std::string& scope) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.CreateScope(bucket, scope); });
}
Status Database::DropScope(const std::string& bucket, const std::string& scope) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropScope(bucket, scope); });
}
Status Database::CreateCollection(const KeyspaceName& name, uint64_t max_expiry_ms) {
  return impl_->ChangeCatalog(
      [&](CatalogEdit& edit) { return edit.CreateCollection(name, max_expiry_ms); });
}
Status Database::DropCollection(const KeyspaceName& name) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropCollection(name); });
}

Status Database::FlushCollection(const KeyspaceName& name) {
  for (ShardId shard = 0; shard < shard_count(); ++shard) {
    RETURN_IF_ERROR(impl_->committers[shard]->Run([&](Committer::TaskContext& context) -> Status {
      ASSIGN_OR_RETURN(const auto keyspace, catalog()->Resolve(name));
      DeleteId(&context.batch, storage::Family::kDocs, shard, keyspace->id);
      for (const auto& index : keyspace->indexes) {
        DeleteId(&context.batch, storage::Family::kIndex, shard, index->id());
      }
      // Followers that come back later can't learn of these deletions from tombstones.
      context.state.purged = context.state.sequence;
      return OkStatus();
    }));
  }
  return OkStatus();
}

// --- indexes ------------------------------------------------------------------------------------

Status Database::CreateIndex(const KeyspaceName& keyspace, IndexDefinition definition) {
  IndexId id = 0;
  const std::string name = definition.name;
  RETURN_IF_ERROR(impl_->ChangeCatalog([&](CatalogEdit& edit) -> Status {
    ASSIGN_OR_RETURN(id, edit.CreateIndex(keyspace, std::move(definition)));
    return OkStatus();
  }));
  ASSIGN_OR_RETURN(const auto info, catalog()->Resolve(keyspace));
  for (const std::shared_ptr<const Index>& index : info->indexes) {
    if (index->id() != id) continue;
    Status built = impl_->BuildIndex(index);
    if (!built.ok() && built.code() != Code::kNotFound) {
      RETURN_IF_ERROR(DropIndex(keyspace, name));
    }
    return built;
  }
  return Error(Code::kNotFound, "index.not_found", "index '{}' was dropped while it was made",
               name);
}

Status Database::DropIndex(const KeyspaceName& keyspace, const std::string& name) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropIndex(keyspace, name); });
}

// From its registration on, every write keeps the index. What is older is read in chunks; a
// chunk's rows are added between two groups, for documents that are still what was read.
Status Database::Impl::BuildIndex(std::shared_ptr<const Index> index) {
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    std::string from;
    bool more = true;
    while (more) {
      ASSIGN_OR_RETURN(more, BuildIndexChunk(*index, shard, &from));
    }
  }
  return ChangeCatalog(
      [&](CatalogEdit& edit) { return edit.MarkIndexReady(index->keyspace(), index->id()); });
}

namespace {

struct PendingEntries {
  std::string row_key;
  std::string key;
  Sequence sequence = 0;
  uint64_t expiry_ms = 0;
  std::vector<std::string> entries;
};

bool HasIndex(const Catalog& catalog, const Index& index) {
  const KeyspaceInfo* keyspace = catalog.Find(index.keyspace());
  return keyspace != nullptr &&
         std::any_of(keyspace->indexes.begin(), keyspace->indexes.end(),
                     [&](const auto& other) { return other->id() == index.id(); });
}

}  // namespace

Result<bool> Database::Impl::BuildIndexChunk(const Index& index, ShardId shard, std::string* from) {
  std::vector<PendingEntries> chunk;
  size_t bytes = 0;
  const std::string prefix = KeyspacePrefix(shard, index.keyspace());
  storage::IterateOptions options;
  options.lower = prefix + *from;
  options.upper = PrefixEnd(prefix);
  options.fill_cache = false;
  const auto iterator = store->NewIterator(storage::Family::kDocs, std::move(options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    if (chunk.size() >= kIndexChunkDocuments || bytes >= kIndexChunkBytes) break;
    ASSIGN_OR_RETURN(const DocumentView view, DecodeDocument(iterator->value()));
    const std::string_view key = iterator->key().substr(kDocumentKeyPrefixBytes);
    *from = std::string(key) + '\0';
    if (view.tombstone) continue;
    PendingEntries pending{
        std::string(iterator->key()), std::string(key), view.sequence, view.expiry_ms, {}};
    ASSIGN_OR_RETURN(pending.entries, index.Entries(key, view));
    bytes += view.body.size();
    chunk.push_back(std::move(pending));
  }
  RETURN_IF_ERROR(iterator->status());
  const bool more = iterator->Valid();
  RETURN_IF_ERROR(committers[shard]->Run([&](Committer::TaskContext& context) -> Status {
    if (!HasIndex(*CurrentCatalog(), index)) {
      return Error(Code::kNotFound, "index.not_found", "index '{}' was dropped while it was built",
                   index.definition().name);
    }
    storage::PinnedValue value;
    for (const PendingEntries& pending : chunk) {
      ASSIGN_OR_RETURN(const bool found,
                       store->Get(storage::Family::kDocs, pending.row_key, &value));
      if (!found) continue;
      ASSIGN_OR_RETURN(const DocumentView view, DecodeDocument(value.view()));
      if (view.sequence != pending.sequence) continue;
      for (const std::string& entry : pending.entries) {
        context.batch.Put(storage::Family::kIndex, index.RowKey(shard, entry, pending.key),
                          IndexRowValue(pending.expiry_ms));
      }
    }
    return OkStatus();
  }));
  return more;
}

// --- followers ----------------------------------------------------------------------------------

Status Database::CreateFollower(const FollowerOptions& options) {
  if (options.lanes == 0) {
    return Error(Code::kInvalidArgument, "follower.invalid_lanes",
                 "a follower has at least one lane");
  }
  FollowerInfo info;
  info.name = options.name;
  info.keyspaces = options.keyspaces;
  info.needs_before = options.needs_before;
  info.needs_after = options.needs_after;
  info.holds_log = options.holds_log;
  info.lanes = options.lanes;
  RETURN_IF_ERROR(
      impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.CreateFollower(info); }));
  // From here on the keyspaces are logged, so a cursor at the place of its own commit misses
  // nothing.
  for (ShardId shard = 0; shard < shard_count(); ++shard) {
    Commit commit;
    commit.shard = shard;
    for (uint16_t lane = 0; lane < options.lanes; ++lane) {
      commit.cursor_creates.push_back(
          {.cursor = {options.name, shard, lane},
           .everything = options.start == FollowerOptions::Start::kEverything});
    }
    RETURN_IF_ERROR(Apply(std::move(commit)).status);
  }
  return OkStatus();
}

Status Database::DropFollower(const std::string& name) {
  RETURN_IF_ERROR(impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropFollower(name); }));
  // A cursor whose follower is gone belongs to nobody; one that a crash leaves here is removed
  // when the database is opened.
  return impl_->committers[0]->Run([&](Committer::TaskContext& context) {
    const std::string prefix = CursorPrefix(name);
    context.batch.DeleteRange(storage::Family::kCursor, prefix, PrefixEnd(prefix));
    return OkStatus();
  });
}

// A crash between the steps of CreateFollower or DropFollower leaves a follower without all of its
// cursors, or cursors without a follower. Neither was acknowledged as made; both go.
Status Database::Impl::DropIncompleteFollowers() {
  std::map<std::string, size_t> cursors;
  const auto iterator = store->NewIterator(storage::Family::kCursor, {});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const CursorId cursor, DecodeCursorKey(iterator->key()));
    ++cursors[cursor.follower];
  }
  RETURN_IF_ERROR(iterator->status());
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  std::vector<std::string> incomplete;
  for (const auto& [name, follower] : catalog->followers()) {
    const size_t expected = static_cast<size_t>(follower.lanes) * format.shards;
    if (cursors[name] != expected) incomplete.push_back(name);
  }
  if (!incomplete.empty()) {
    RETURN_IF_ERROR(ChangeCatalog([&](CatalogEdit& edit) -> Status {
      for (const std::string& name : incomplete) RETURN_IF_ERROR(edit.DropFollower(name));
      return OkStatus();
    }));
  }
  const std::shared_ptr<const Catalog> now = CurrentCatalog();
  std::vector<std::string> orphans;
  for (const auto& [name, count] : cursors) {
    if (count > 0 && now->FindFollower(name) == nullptr) orphans.push_back(name);
  }
  if (orphans.empty()) return OkStatus();
  return committers[0]->Run([&](Committer::TaskContext& context) {
    for (const std::string& name : orphans) {
      const std::string prefix = CursorPrefix(name);
      context.batch.DeleteRange(storage::Family::kCursor, prefix, PrefixEnd(prefix));
    }
    return OkStatus();
  });
}

// A cursor only moves forward over a complete log: what comes after the lowest one is there.
Status Database::Impl::LoadCoverage() {
  std::map<std::pair<KeyspaceId, ShardId>, Sequence> since;
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  const auto iterator = store->NewIterator(storage::Family::kCursor, {});
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const CursorId cursor, DecodeCursorKey(iterator->key()));
    ASSIGN_OR_RETURN(const CursorState state, DecodeCursor(iterator->value()));
    const FollowerInfo* follower = catalog->FindFollower(cursor.follower);
    if (follower == nullptr || !follower->needs_after) continue;
    for (KeyspaceId keyspace : follower->keyspaces) {
      const auto [entry, fresh] =
          since.try_emplace({keyspace, cursor.shard}, state.position.sequence);
      if (!fresh) entry->second = std::min(entry->second, state.position.sequence);
    }
  }
  RETURN_IF_ERROR(iterator->status());
  for (const auto& [where, sequence] : since) {
    coverage.Start(where.first, where.second, sequence);
  }
  return OkStatus();
}

Result<std::shared_ptr<void>> Database::FollowTransiently(KeyspaceId keyspace) {
  RETURN_IF_ERROR(impl_->ChangeCatalog([&](CatalogEdit& edit) -> Status {
    if (impl_->CurrentCatalog()->Find(keyspace) == nullptr) {
      return Error(Code::kNotFound, "keyspace.not_found", "the keyspace does not exist (any more)");
    }
    edit.AddTransientFollower(keyspace);
    return OkStatus();
  }));
  // The token must not outlive the database; its end only notes the time, from any thread.
  return std::shared_ptr<void>(nullptr, [impl = impl_.get(), keyspace](void*) {
    const std::lock_guard lock(impl->transient_mutex_);
    impl->left_.emplace_back(keyspace, impl->clock.MonotonicNs() / 1'000'000);
  });
}

}  // namespace sluice::db
