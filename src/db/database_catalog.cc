// Catalog changes, followers and index building.
//
// A catalog change is a task of shard 0's committer, followed by a task of every other shard. When
// it returns, no group that is built from then on sees the old catalog: what follows (building an
// index, making cursors) relies on that.
#include <algorithm>
#include <array>

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

bool Logs(const KeyspaceInfo* keyspace, LogContent content) {
  return keyspace != nullptr && keyspace->logged &&
         (content == LogContent::kKeys || keyspace->log_after);
}

constexpr std::array kLogContents = {LogContent::kKeys, LogContent::kDocuments};

}  // namespace

Status Database::Impl::ChangeCatalog(const CatalogChange& change) {
  const std::lock_guard alone(catalog_change_mutex_);
  return ChangeCatalogAlone(change);
}

Status Database::Impl::ChangeCatalogAlone(const CatalogChange& change) {
  struct Changing {
    explicit Changing(std::atomic<uint64_t>& changes) : changes(changes) { ++changes; }
    ~Changing() { ++changes; }
    std::atomic<uint64_t>& changes;
  } const changing(catalog_changes_);
  std::shared_ptr<const Catalog> before;
  std::shared_ptr<const Catalog> after;
  std::vector<KeyspaceId> dropped_keyspaces;
  std::vector<IndexId> dropped_indexes;
  const auto delete_dropped = [&](Committer::TaskContext& context, ShardId shard) {
    for (KeyspaceId id : dropped_keyspaces) {
      DeleteId(&context.batch, storage::Family::kDocs, shard, id);
      DeleteId(&context.batch, storage::Family::kRevision, shard, id);
    }
    for (IndexId id : dropped_indexes) {
      DeleteId(&context.batch, storage::Family::kIndex, shard, id);
    }
  };
  RETURN_IF_ERROR(committers[0]->Run([&](Committer::TaskContext& context) -> Status {
    before = CurrentCatalog();
    CatalogEdit edit(*before, options.index_compiler.get());
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
    delete_dropped(context, 0);
    context.published = [&, since = context.state.sequence] {
      EndCoverage(*before, *after);
      StartCoverageOfNew(*before, *after);
      {
        const std::lock_guard lock(catalog_mutex_);
        catalog_ = after;
      }
      if (after->typed()) typed = true;
      StartCoverage(*before, *after, 0, since);
    };
    return OkStatus();
  }));
  for (ShardId shard = 1; shard < format.shards; ++shard) {
    RETURN_IF_ERROR(committers[shard]->Run([&](Committer::TaskContext& context) -> Status {
      delete_dropped(context, shard);
      context.published = [&, shard, since = context.state.sequence] {
        StartCoverage(*before, *after, shard, since);
      };
      return OkStatus();
    }));
  }
  return OkStatus();
}

// Before the new catalog is seen: the other shards stop logging the moment they see it. A dropped
// keyspace has no more changes to miss, so its coverage may stay.
void Database::Impl::EndCoverage(const Catalog& before, const Catalog& after) {
  for (const auto& [id, keyspace] : before.keyspaces()) {
    const KeyspaceInfo* now = after.Find(id);
    for (LogContent content : kLogContents) {
      if (now == nullptr || !Logs(keyspace.get(), content) || Logs(now, content)) continue;
      for (ShardId shard = 0; shard < format.shards; ++shard) coverage.End(id, shard, content);
    }
  }
}

// Before the new catalog is seen: a keyspace that is followed from its making has no change that
// the log does not have.
void Database::Impl::StartCoverageOfNew(const Catalog& before, const Catalog& after) {
  for (const auto& [id, keyspace] : after.keyspaces()) {
    if (before.Find(id) != nullptr) continue;
    for (LogContent content : kLogContents) {
      if (!Logs(keyspace.get(), content)) continue;
      for (ShardId shard = 0; shard < format.shards; ++shard) coverage.Start(id, shard, content, 0);
    }
  }
}

void Database::Impl::StartCoverage(const Catalog& before, const Catalog& after, ShardId shard,
                                   Sequence since) {
  for (const auto& [id, keyspace] : after.keyspaces()) {
    for (LogContent content : kLogContents) {
      const KeyspaceInfo* old = before.Find(id);
      if (old != nullptr && Logs(keyspace.get(), content) && !Logs(old, content)) {
        coverage.Start(id, shard, content, since);
      }
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
Status Database::SetMaxExpiry(const KeyspaceName& name, uint64_t max_expiry_ms) {
  return impl_->ChangeCatalog(
      [&](CatalogEdit& edit) { return edit.SetMaxExpiry(name, max_expiry_ms); });
}
Status Database::DropCollection(const KeyspaceName& name) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropCollection(name); });
}

Status Database::FlushCollection(const KeyspaceName& name) {
  ASSIGN_OR_RETURN(const KeyspaceId id, Resolve(name));
  for (ShardId shard = 0; shard < shard_count(); ++shard) {
    RETURN_IF_ERROR(impl_->committers[shard]->Run([&](Committer::TaskContext& context) -> Status {
      const std::shared_ptr<const Catalog> now = catalog();
      const KeyspaceInfo* keyspace = now->Find(id);
      if (keyspace == nullptr) {
        return Error(Code::kNotFound, "keyspace.not_found", "{} was dropped while it was flushed",
                     name.ToString());
      }
      DeleteId(&context.batch, storage::Family::kDocs, shard, id);
      DeleteId(&context.batch, storage::Family::kRevision, shard, id);
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

Status Database::CreateIndex(const KeyspaceName& keyspace, IndexDefinition definition,
                             IndexBuild build) {
  IndexId id = 0;
  const std::string name = definition.name;
  RETURN_IF_ERROR(impl_->ChangeCatalog([&](CatalogEdit& edit) -> Status {
    ASSIGN_OR_RETURN(id, edit.CreateIndex(keyspace, std::move(definition), build));
    return OkStatus();
  }));
  Status built = impl_->BuildIfNeeded(keyspace, id);
  if (built.ok()) built = impl_->CheckBuiltUnique(keyspace, id);
  if (!built.ok() && built.code() != Code::kNotFound) RETURN_IF_ERROR(DropIndex(keyspace, name));
  return built;
}

Status Database::BuildIndex(const KeyspaceName& keyspace, const std::vector<std::string>& names) {
  std::vector<IndexId> started;
  KeyspaceId in = 0;
  RETURN_IF_ERROR(impl_->ChangeCatalog([&](CatalogEdit& edit) -> Status {
    ASSIGN_OR_RETURN(in, Resolve(keyspace));
    ASSIGN_OR_RETURN(started, edit.StartIndexes(keyspace, names));
    return OkStatus();
  }));
  Status result;
  for (IndexId id : started) {
    const Status built = impl_->BuildIfNeeded(keyspace, id);
    if (built.ok()) continue;
    if (result.ok()) result = built;
    if (built.code() == Code::kUnavailable) continue;  // closing: the next start goes on with it
    RETURN_IF_ERROR(impl_->ChangeCatalog([&](CatalogEdit& edit) {
      edit.SetIndexState(in, id, Index::State::kDeferred);
      return OkStatus();
    }));
  }
  return result;
}

Status Database::Impl::BuildIfNeeded(const KeyspaceName& keyspace, IndexId id) {
  ASSIGN_OR_RETURN(const auto info, CurrentCatalog()->Resolve(keyspace));
  for (const std::shared_ptr<const Index>& index : info->indexes) {
    if (index->id() != id) continue;
    return index->state() == Index::State::kBuilding ? BuildIndex(index) : OkStatus();
  }
  return Error(Code::kNotFound, "index.not_found", "the index was dropped while it was made");
}

// Rows that were there before a unique index came are compared once all of them are in it: from its
// registration on, commits keep it unique.
Status Database::Impl::CheckBuiltUnique(const KeyspaceName& keyspace, IndexId id) {
  ASSIGN_OR_RETURN(const auto info, CurrentCatalog()->Resolve(keyspace));
  for (const std::shared_ptr<const Index>& index : info->indexes) {
    if (index->id() != id || !index->definition().unique) continue;
    const std::string prefix = index->Prefix(0);
    storage::IterateOptions options;
    options.lower = prefix;
    options.upper = PrefixEnd(prefix);
    const auto iterator = store->NewIterator(storage::Family::kIndex, std::move(options));
    std::string last;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      ASSIGN_OR_RETURN(const IndexRow row, DecodeIndexRow(iterator->key().substr(prefix.size())));
      if (row.parts == last && index->IsExclusive(row.parts)) {
        return Error(Code::kAlreadyExists, "table.duplicate",
                     "table '{}' has rows with the same key: '{}' can't be unique",
                     keyspace.collection, index->definition().name);
      }
      last = row.parts;
    }
    return iterator->status();
  }
  return OkStatus();
}

Status Database::DropIndex(const KeyspaceName& keyspace, const std::string& name) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropIndex(keyspace, name); });
}

// From its registration on, every write keeps the index. What is older is read in chunks; a
// chunk's rows are added between two groups, for documents that are still what was read.
Status Database::Impl::BuildIndex(std::shared_ptr<const Index> index) {
  RETURN_IF_ERROR(FillIndex(*index));
  return ChangeCatalog([&](CatalogEdit& edit) {
    edit.SetIndexState(index->keyspace(), index->id(), Index::State::kReady);
    return OkStatus();
  });
}

Status Database::Impl::FillIndex(const Index& index) {
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    std::string from;
    bool more = true;
    while (more) {
      ASSIGN_OR_RETURN(more, BuildIndexChunk(index, shard, &from));
    }
  }
  return OkStatus();
}

namespace {

struct PendingEntries {
  std::string row_key;
  std::string key;
  size_t hash = 0;  // of the stored document
  uint64_t expiry_ms = 0;
  std::vector<std::string> entries;
};

// A document that can't be brought into the form in which it is read has no rows.
Result<std::vector<std::string>> EntriesAsRead(const Index& index, const DocumentPolicy* policy,
                                               std::string_view key, DocumentView view) {
  if (policy == nullptr || !policy->ReadsOtherwise(key, view)) return index.Entries(key, view);
  const auto body = policy->AsRead(key, view);
  if (!body) return std::vector<std::string>();
  if (*body) view.body = **body;
  return index.Entries(key, view);
}

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
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  const KeyspaceInfo* const keyspace = catalog->Find(index.keyspace());
  const DocumentPolicy* const policy = keyspace == nullptr ? nullptr : keyspace->policy.get();
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
    PendingEntries pending{std::string(iterator->key()),
                           std::string(key),
                           std::hash<std::string_view>()(iterator->value()),
                           view.expiry_ms,
                           {}};
    ASSIGN_OR_RETURN(pending.entries, EntriesAsRead(index, policy, key, view));
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
      if (std::hash<std::string_view>()(value.view()) != pending.hash) continue;
      index.PutRows(shard, pending.key, pending.entries, pending.expiry_ms, &context.batch);
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
  info.pattern = options.pattern;
  info.needs_before = options.needs_before;
  info.needs_after = options.needs_after;
  info.holds_log = options.holds_log;
  info.lanes = options.lanes;
  const std::lock_guard alone(impl_->catalog_change_mutex_);
  RETURN_IF_ERROR(
      impl_->ChangeCatalogAlone([&](CatalogEdit& edit) { return edit.CreateFollower(info); }));
  Status created = impl_->CreateCursors(options);
  if (!created.ok()) {
    // One that can't be dropped either is dropped when the database is opened again.
    (void)impl_->DropFollower(options.name);
  }
  return created;
}

// The keyspaces are logged already, so a cursor at the place of its own commit misses nothing.
Status Database::Impl::CreateCursors(const FollowerOptions& options) {
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    Commit commit;
    commit.shard = shard;
    for (uint16_t lane = 0; lane < options.lanes; ++lane) {
      commit.cursor_creates.push_back(
          {.cursor = {options.name, shard, lane},
           .everything = options.start == FollowerOptions::Start::kEverything});
    }
    RETURN_IF_ERROR(committers[shard]->Apply(std::move(commit)).status);
  }
  return OkStatus();
}

Status Database::DropFollower(const std::string& name) {
  const std::lock_guard alone(impl_->catalog_change_mutex_);
  return impl_->DropFollower(name);
}

Status Database::Impl::DropFollower(const std::string& name) {
  RETURN_IF_ERROR(ChangeCatalogAlone([&](CatalogEdit& edit) { return edit.DropFollower(name); }));
  return DeleteCursors(name);
}

// Each by its own shard's committer: a commit that moves one at the same time comes before or
// finds it gone.
Status Database::Impl::DeleteCursors(const std::string& follower) {
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    RETURN_IF_ERROR(committers[shard]->Run([&](Committer::TaskContext& context) {
      const std::string prefix = CursorPrefix(follower, shard);
      context.batch.DeleteRange(storage::Family::kCursor, prefix, PrefixEnd(prefix));
      return OkStatus();
    }));
  }
  return OkStatus();
}

Result<std::shared_ptr<void>> Database::FollowTransiently(KeyspaceId keyspace) {
  RETURN_IF_ERROR(
      impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.AddTransientFollower(keyspace); }));
  return std::shared_ptr<void>(nullptr, [departures = impl_->departures_, keyspace](void*) {
    const std::lock_guard lock(departures->mutex);
    departures->keyspaces.push_back(keyspace);
  });
}

}  // namespace sluice::db
