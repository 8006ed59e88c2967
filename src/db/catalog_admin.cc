// Catalog changes and index building.
//
// A catalog change is a task of shard 0's committer, followed by a task of every other shard. After
// it has returned, no new group sees the old catalog. The next steps (building an index, making
// cursors) rely on that. The new catalog is published by the group that has its rows (standby.cc).
#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "base/mutex.h"
#include "db/database_impl.h"
#include "db/index.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

constexpr size_t kIndexChunkDocuments = 512;
constexpr size_t kIndexChunkBytes = 4 << 20;

void DeleteId(storage::Batch* batch, storage::Family family, ShardId shard, uint32_t id) {
  const std::string prefix = KeyspacePrefix(shard, id);
  batch->DeleteRange(family, prefix, PrefixEnd(prefix));
}

}  // namespace

Status DatabaseImpl::ChangeCatalog(const CatalogChange& change) {
  const MutexLock alone(catalog_change_mutex_);
  return ChangeCatalogAlone(change);
}

Status DatabaseImpl::ChangeCatalogAlone(const CatalogChange& change) {
  RETURN_IF_ERROR(CheckOwnsAll());
  const Changing changing(catalog_changes_);
  std::shared_ptr<const Catalog> before;
  std::shared_ptr<const Catalog> in_memory;
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
  RETURN_IF_ERROR(
      committers[kDefinitionsShard]->Run([&](Committer::TaskContext& context) -> Status {
        before = CurrentCatalog();
        CatalogEdit edit(*before, options.index_compiler.get());
        RETURN_IF_ERROR(change(edit));
        for (const RowWrite& row : edit.rows()) {
          if (row.value) {
            context.batch.Put(StoredFamily(row.family), RowKey(kDefinitionsShard, row.key),
                              *row.value);
          } else {
            context.batch.Delete(StoredFamily(row.family), RowKey(kDefinitionsShard, row.key));
          }
        }
        dropped_keyspaces = edit.dropped_keyspaces();
        dropped_indexes = edit.dropped_indexes();
        delete_dropped(context, kDefinitionsShard);
        if (!edit.rows().empty()) {
          // Rows that can't be read must not be written. FollowGroup publishes what they say.
          const auto readable = CatalogAfter(context.batch);
          return readable ? OkStatus() : readable.error();
        }
        in_memory = edit.Finish();
        context.published = [this, in_memory, since = context.state.sequence] {
          PublishCatalog(in_memory, since);
        };
        return OkStatus();
      }));
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    if (shard == kDefinitionsShard) continue;
    RETURN_IF_ERROR(committers[shard]->Run([&](Committer::TaskContext& context) -> Status {
      delete_dropped(context, shard);
      if (in_memory == nullptr) return OkStatus();  // cursors say from where on the log is complete
      context.published = [&, shard, since = context.state.sequence] {
        StartCoverage(*before, *in_memory, shard, since);
      };
      return OkStatus();
    }));
  }
  return OkStatus();
}

Status CatalogAdmin::CreateBucket(const std::string& bucket) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.CreateBucket(bucket); });
}
Status CatalogAdmin::DropBucket(const std::string& bucket) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropBucket(bucket); });
}
Status CatalogAdmin::CreateScope(const std::string& bucket, const std::string& scope) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.CreateScope(bucket, scope); });
}
Status CatalogAdmin::DropScope(const std::string& bucket, const std::string& scope) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropScope(bucket, scope); });
}
Status CatalogAdmin::CreateCollection(const KeyspaceName& name, uint64_t max_expiry_ms) {
  return impl_->ChangeCatalog(
      [&](CatalogEdit& edit) { return edit.CreateCollection(name, max_expiry_ms); });
}
Status CatalogAdmin::SetMaxExpiry(const KeyspaceName& name, uint64_t max_expiry_ms) {
  return impl_->ChangeCatalog(
      [&](CatalogEdit& edit) { return edit.SetMaxExpiry(name, max_expiry_ms); });
}
Status CatalogAdmin::DropCollection(const KeyspaceName& name) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropCollection(name); });
}

Status CatalogAdmin::FlushCollection(const KeyspaceName& name) {
  ASSIGN_OR_RETURN(const auto flushed, impl_->CurrentCatalog()->Resolve(name));
  const KeyspaceId id = flushed->id;
  RETURN_IF_ERROR(impl_->CheckOwnsAll());
  for (ShardId shard = 0; shard < impl_->format.shards; ++shard) {
    RETURN_IF_ERROR(impl_->committers[shard]->Run([&](Committer::TaskContext& context) -> Status {
      const std::shared_ptr<const Catalog> now = impl_->CurrentCatalog();
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

Status CatalogAdmin::CreateIndex(const KeyspaceName& keyspace, IndexDefinition definition,
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

Status CatalogAdmin::BuildIndex(const KeyspaceName& keyspace,
                                const std::vector<std::string>& names) {
  std::vector<IndexId> started;
  KeyspaceId in = 0;
  RETURN_IF_ERROR(impl_->ChangeCatalog([&](CatalogEdit& edit) -> Status {
    ASSIGN_OR_RETURN(const auto resolved, impl_->CurrentCatalog()->Resolve(keyspace));
    in = resolved->id;
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

Status DatabaseImpl::BuildIfNeeded(const KeyspaceName& keyspace, IndexId id) {
  ASSIGN_OR_RETURN(const auto info, CurrentCatalog()->Resolve(keyspace));
  for (const std::shared_ptr<const Index>& index : info->indexes) {
    if (index->id() != id) continue;
    return index->state() == Index::State::kBuilding ? BuildIndex(index) : OkStatus();
  }
  return Error(Code::kNotFound, "index.not_found", "the index was dropped while it was made");
}

// Compares the rows of a unique index after all of them are built. From the index's registration
// on, commits refuse duplicates of new rows.
Status DatabaseImpl::CheckBuiltUnique(const KeyspaceName& keyspace, IndexId id) {
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

Status CatalogAdmin::DropIndex(const KeyspaceName& keyspace, const std::string& name) {
  return impl_->ChangeCatalog([&](CatalogEdit& edit) { return edit.DropIndex(keyspace, name); });
}

// From the index's registration on, every write maintains it. Older documents are read in chunks;
// the rows of a chunk are added between two groups, for documents that have not changed since.
Status DatabaseImpl::BuildIndex(std::shared_ptr<const Index> index) {
  RETURN_IF_ERROR(FillIndex(*index));
  return ChangeCatalog([&](CatalogEdit& edit) {
    edit.SetIndexState(index->keyspace(), index->id(), Index::State::kReady);
    return OkStatus();
  });
}

Status DatabaseImpl::FillIndex(const Index& index) {
  for (ShardId shard = 0; shard < format.shards; ++shard) {
    std::string from;
    bool more = true;
    while (more) {
      RETURN_IF_ERROR(CheckOwnsAll());
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

// A document that can't be migrated to the form in which it is read has no rows.
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

Result<bool> DatabaseImpl::BuildIndexChunk(const Index& index, ShardId shard, std::string* from) {
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

}  // namespace sluice::db
