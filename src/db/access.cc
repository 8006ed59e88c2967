// Records in documents when they were last read, if their type asks for that. The background writes
// the time some moments after the read, many documents in one group, in the way of a migration:
// CAS, sequence, stamps and revisions stay as they are, and followers get no event. If the document
// was written in between, or the time is up, the write is dropped, and the next read tries again.
#include <latch>

#include "db/database_impl.h"

namespace sluice::db {
namespace {

// The most time for migrations that index rows need: other work of the background must not wait.
constexpr uint64_t kMaxPreparingNs = 20'000'000;

}  // namespace

uint64_t DatabaseImpl::StampAccesses() {
  const AccessQueue::Entries entries = accesses.Take();
  if (entries.empty()) return 0;
  const std::shared_ptr<const Catalog> now = CurrentCatalog();
  const uint64_t until_ns = clock.MonotonicNs() + kMaxPreparingNs;
  std::vector<Commit> commits;
  for (const auto& [keyspace, key] : entries) {
    if (clock.MonotonicNs() > until_ns) break;
    auto commit = AccessCommit(*now, keyspace, key);
    if (commit && *commit) commits.push_back(std::move(**commit));
  }
  std::atomic<uint64_t> done = 0;
  std::latch waiting(static_cast<ptrdiff_t>(commits.size()));
  for (Commit& commit : commits) {
    Committer& committer = *committers[commit.shard];
    committer.Submit(std::move(commit), [&](const CommitResult& result) {
      if (result.status.ok()) ++done;
      waiting.count_down();
    });
  }
  waiting.wait();
  return done;
}

// Nothing if the document needs no write.
Result<std::optional<Commit>> DatabaseImpl::AccessCommit(const Catalog& now, KeyspaceId keyspace,
                                                         const std::string& key) const {
  const KeyspaceInfo* const info = now.Find(keyspace);
  if (info == nullptr || info->policy == nullptr || !info->policy->NotesAccess()) {
    return std::nullopt;
  }
  const DocumentPolicy& policy = *info->policy;
  const ShardId shard = db::ShardOf(keyspace, key, format.shards);
  if (!Owns(shard)) return std::nullopt;
  PinnedDocument stored;
  ASSIGN_OR_RETURN(const bool found, store->Get(storage::Family::kDocs,
                                                DocumentKey(shard, keyspace, key), stored.value()));
  if (!found) return std::nullopt;
  RETURN_IF_ERROR(stored.Decode());
  const uint64_t now_ms = clock.WallMs();
  if (!stored->LiveAt(now_ms)) return std::nullopt;
  std::optional<std::string> body = policy.Accessed(key, stored.view(), now_ms);
  if (!body) return std::nullopt;
  Document document = stored->Copy();
  document.body = std::move(*body);
  document.cas = 0;
  Write write = PutWrite(keyspace, key, std::move(document), Precondition::CasIs(stored->cas));
  write.intent = Write::Intent::kMigrate;
  write.only_over = std::string(stored->body);
  write.prepared = std::make_unique<PreparedWrite>();
  write.prepared->policy = info->policy;
  if (HasRows(*info)) PrepareReadForms(policy, &stored.view(), &write);
  Commit commit;
  commit.shard = shard;
  commit.writes.push_back(std::move(write));
  return commit;
}

}  // namespace sluice::db
