// What the server keeps in memory of the rows follows each group that is written to the store: the
// catalog, and from where on the log is complete. It is the same code for groups that this server
// has built and for those of another one, which a standby is fed with. Sequences, stamps and what
// is gone from the log are the committer's (Committer::Install).
//
// On a standby the shards may be at different moments. So coverage follows from the catalog and
// from the cursors, whichever comes last.
#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/check.h"
#include "db/catalog_rows.h"
#include "db/cursor.h"
#include "db/database_impl.h"
#include "db/group_contents.h"

namespace sluice::db {
namespace {

bool Logs(const KeyspaceInfo* keyspace, LogContent content) {
  return keyspace != nullptr && keyspace->logged &&
         (content == LogContent::kKeys || keyspace->log_after);
}

constexpr std::array kLogContents = {LogContent::kKeys, LogContent::kDocuments};

bool ChangesCatalog(const std::vector<std::string>& meta_keys) {
  return std::ranges::any_of(
      meta_keys, [](const std::string& key) { return key.starts_with(kCatalogPrefix); });
}

}  // namespace

Status DatabaseImpl::ApplyGroup(ShardId shard, Sequence expected, Sequence next,
                                std::string_view bytes) {
  if (shard >= format.shards) {
    return Error(Code::kInvalidArgument, "commit.malformed", "there is no shard {}", shard);
  }
  if (incomplete.Lock()->contains(shard)) return IncompleteError(shard);
  ASSIGN_OR_RETURN(storage::Batch batch, storage::Batch::Parse(bytes));
  std::optional<Changing> changing;
  if (shard == kDefinitionsShard && ChangesCatalog(MetaKeysOf(batch, shard))) {
    if (const auto readable = CatalogAfter(batch); !readable) return readable.error();
    changing.emplace(catalog_changes_);
  }
  return committers[shard]->ApplyGroup(expected, next, &batch);
}

void DatabaseImpl::FollowGroup(ShardId shard, const storage::Batch& batch,
                               const Committed& committed) {
  if (shard == kDefinitionsShard && ChangesCatalog(committed.meta_keys)) {
    Result<std::shared_ptr<const Catalog>> after = CatalogAfter(batch);
    CHECK(after.has_value());  // it was tried before the group was written
    PublishCatalog(std::move(*after), committed.sequence);
  }
  if (committed.followers.empty() && committed.unfollowed.empty()) return;
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  for (const std::string& name : committed.unfollowed) UncoverFollower(*catalog, name, shard);
  for (const std::string& name : committed.followers) CoverFollower(*catalog, name, shard);
}

Result<std::shared_ptr<const Catalog>> DatabaseImpl::CatalogAfter(
    const storage::Batch& batch) const {
  return CatalogEdit::FromRows(*CurrentCatalog(), CatalogRowMapOf(batch),
                               options.index_compiler.get(), &policies);
}

// A follower of this name was dropped, and the catalog, which is ahead of the shard, has a new one.
void DatabaseImpl::UncoverFollower(const Catalog& catalog, const std::string& name, ShardId shard) {
  const FollowerInfo* const again = catalog.FindFollower(name);
  if (again == nullptr) return;  // what it covered ended with it
  for (const KeyspaceId keyspace : again->keyspaces) {
    const bool others = std::ranges::any_of(catalog.followers(), [&](const auto& entry) {
      return entry.first != name && std::ranges::binary_search(entry.second.keyspaces, keyspace);
    });
    if (others) continue;
    for (const LogContent content : kLogContents) coverage.End(keyspace, shard, content);
  }
}

// `since`: the commit that makes it, in the shard of definitions.
void DatabaseImpl::PublishCatalog(std::shared_ptr<const Catalog> after, Sequence since) {
  const std::shared_ptr<const Catalog> before = CurrentCatalog();
  EndCoverage(*before, *after);
  StartCoverageOfNew(*before, *after);
  catalog_.Set(after);
  if (after->typed()) typed = true;
  StartCoverage(*before, *after, kDefinitionsShard, since);
  for (const auto& [name, follower] : after->followers()) {
    if (before->FindFollower(name) != nullptr) continue;
    for (ShardId shard = 0; shard < format.shards; ++shard) CoverFollower(*after, name, shard);
  }
}

// A follower's cursors are made when all shards log its keyspaces, and move only over a complete
// log: it is complete after the lowest of them. Coverage that is known reaches back at least as
// far.
void DatabaseImpl::CoverFollower(const Catalog& catalog, const std::string& name, ShardId shard) {
  const FollowerInfo* const follower = catalog.FindFollower(name);
  if (follower == nullptr) return;
  std::vector<std::pair<KeyspaceId, LogContent>> missing;
  for (const KeyspaceId keyspace : follower->keyspaces) {
    for (const LogContent content : kLogContents) {
      if (content == LogContent::kDocuments && !follower->needs_after) continue;
      if (!coverage.Since(keyspace, shard, content)) missing.emplace_back(keyspace, content);
    }
  }
  if (missing.empty()) return;
  std::optional<Sequence> lowest;
  storage::IterateOptions range;
  range.lower = CursorPrefix(name, shard);
  range.upper = PrefixEnd(range.lower);
  const auto cursors = store->NewIterator(storage::Family::kCursor, std::move(range));
  for (cursors->SeekToFirst(); cursors->Valid(); cursors->Next()) {
    const Result<CursorState> state = DecodeCursor(cursors->value());
    if (!state) return;
    lowest = std::min(lowest.value_or(UINT64_MAX), state->position.done());
  }
  if (!lowest || !cursors->status().ok()) return;
  for (const auto& [keyspace, content] : missing) coverage.Start(keyspace, shard, content, *lowest);
}

// Runs before the new catalog is published, because the other shards stop logging when they see it.
// A dropped keyspace has no more changes, so its coverage may stay.
void DatabaseImpl::EndCoverage(const Catalog& before, const Catalog& after) {
  for (const auto& [id, keyspace] : before.keyspaces()) {
    const KeyspaceInfo* now = after.Find(id);
    for (LogContent content : kLogContents) {
      if (now == nullptr || !Logs(keyspace.get(), content) || Logs(now, content)) continue;
      for (ShardId shard = 0; shard < format.shards; ++shard) coverage.End(id, shard, content);
    }
  }
}

// Runs before the new catalog is published: the log has every change of a keyspace that is followed
// from the moment it is made.
void DatabaseImpl::StartCoverageOfNew(const Catalog& before, const Catalog& after) {
  for (const auto& [id, keyspace] : after.keyspaces()) {
    if (before.Find(id) != nullptr) continue;
    for (LogContent content : kLogContents) {
      if (!Logs(keyspace.get(), content)) continue;
      for (ShardId shard = 0; shard < format.shards; ++shard) coverage.Start(id, shard, content, 0);
    }
  }
}

void DatabaseImpl::StartCoverage(const Catalog& before, const Catalog& after, ShardId shard,
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

}  // namespace sluice::db
