#include "db/typed_writes.h"

#include <algorithm>

#include "db/database_impl.h"

namespace sluice::db {
namespace {

// The most bytes of replaced documents that one commit holds. The committer reads the others.
constexpr size_t kMaxReadAheadBytes = 16ull << 20;

}  // namespace

Status TypedWrites::Prepare(Commit* commit, int* failed) const {
  const std::shared_ptr<const Catalog> now = impl_->CurrentCatalog();
  const std::string_view actor = commit->actor.empty() ? commit->origin : commit->actor;
  size_t room = kMaxReadAheadBytes;
  for (size_t i = 0; i < commit->writes.size(); ++i) {
    Write& write = commit->writes[i];
    const KeyspaceInfo* const keyspace = now->Find(write.keyspace);
    if (keyspace == nullptr || keyspace->policy == nullptr) continue;
    const Status prepared = PrepareOne(*keyspace, actor, &room, &write);
    if (prepared.ok()) continue;
    *failed = static_cast<int>(i);
    return prepared;
  }
  return OkStatus();
}

// `room`: how many bytes of replaced documents the commit may still hold.
Status TypedWrites::PrepareOne(const KeyspaceInfo& keyspace, std::string_view actor, size_t* room,
                               Write* write) const {
  const DocumentPolicy& policy = *keyspace.policy;
  RETURN_IF_ERROR(policy.CheckUsable());
  write->prepared = std::make_unique<PreparedWrite>();
  PreparedWrite& prepared = *write->prepared;
  prepared.policy = keyspace.policy;
  if (write->kind == Write::Kind::kPut && write->intent == Write::Intent::kChange) {
    const uint64_t now_ms = impl_->clock.WallMs();
    DocumentPolicy::Replaced replaced;
    if (*room > 0) {
      ASSIGN_OR_RETURN(prepared.ahead, ReadReplaced(keyspace, *write, now_ms));
    }
    if (prepared.ahead != nullptr) {
      const ReadAhead& ahead = *prepared.ahead;
      replaced = {ahead.live ? &ahead.present.view() : nullptr, ahead.revisions.last()};
      *room -= std::min(*room, ahead.present->body.size() + ahead.present->xattrs.size());
    }
    ASSIGN_OR_RETURN(
        DocumentPolicy::Prepared made,
        policy.Prepare({write->key, actor, now_ms}, DocumentView::Of(write->document), replaced));
    // A script may have used the replaced document. Its result is only in `settled`, and the write
    // keeps the given document: if another document is replaced in the end, the committer prepares
    // the given one again.
    const bool rests_on_replaced = made.body && !made.diverted && policy.RunsScripts();
    if (made.body && !rests_on_replaced) write->document.body = std::move(*made.body);
    prepared.document = !rests_on_replaced;
    prepared.violation = std::move(made.violation);
    prepared.diverted = std::move(made.diverted);
    if (prepared.ahead != nullptr) prepared.ahead->settled = std::move(made.settled);
  }
  return ReadPresent(keyspace, write);
}

// The replaced document. Null if only the committer can settle the write.
Result<std::unique_ptr<ReadAhead>> TypedWrites::ReadReplaced(const KeyspaceInfo& keyspace,
                                                             const Write& write,
                                                             uint64_t now_ms) const {
  const ShardId shard = database_.ShardOf(keyspace.id, write.key);
  auto ahead = std::make_unique<ReadAhead>();
  ahead->as_of = impl_->committers[shard]->last_sequence();  // before anything is read
  ASSIGN_OR_RETURN(ahead->found, database_.GetRow(keyspace.id, write.key, &ahead->present));
  ahead->live = ahead->found && ahead->present->LiveAt(now_ms);
  // The document has expired: the commit deletes it first, which makes a revision of its own.
  if (ahead->found && !ahead->live && !ahead->present->tombstone) return nullptr;
  if (keyspace.policy->KeepsRevisions()) {
    ASSIGN_OR_RETURN(ahead->revisions, database_.revisions().Stored(keyspace.id, write.key));
  }
  return ahead;
}

// Runs the scripts here that the committer would have to run on the replaced document.
Status TypedWrites::ReadPresent(const KeyspaceInfo& keyspace, Write* write) const {
  if (keyspace.policy->read_form().empty()) return OkStatus();
  if (!HasRows(keyspace) && write->kind != Write::Kind::kMutate) return OkStatus();
  const DocumentPolicy& policy = *keyspace.policy;
  const auto prepare = [&](bool found, const PinnedDocument& present) {
    PrepareReadForms(policy, found && !present->tombstone ? &present.view() : nullptr, write);
    return OkStatus();
  };
  const ReadAhead* const ahead = write->prepared->ahead.get();
  if (ahead != nullptr) return prepare(ahead->found, ahead->present);
  PinnedDocument present;
  ASSIGN_OR_RETURN(const bool found, database_.GetRow(write->keyspace, write->key, &present));
  return prepare(found, present);
}

bool HasRows(const KeyspaceInfo& keyspace) {
  return std::ranges::any_of(keyspace.indexes, [](const auto& index) { return index->kept(); });
}

void PrepareReadForms(const DocumentPolicy& policy, const DocumentView* present, Write* write) {
  PreparedWrite& prepared = *write->prepared;
  // A change is stored in the form that readers see, unless its type does not upgrade writes.
  const DocumentView written = DocumentView::Of(write->document);
  if (write->kind == Write::Kind::kPut && write->intent == Write::Intent::kMigrate &&
      policy.ReadsOtherwise(write->key, written)) {
    auto body = policy.AsRead(write->key, written);
    if (body && *body) prepared.written_as_read = std::move(**body);
  }
  if (present == nullptr || !policy.ReadsOtherwise(write->key, *present)) return;
  auto body = policy.AsRead(write->key, *present);
  prepared.sequence = present->sequence;
  prepared.body_hash = std::hash<std::string_view>()(present->body);
  if (!body) {
    prepared.present_as_read = Unexpected(std::move(body).error());
  } else {
    prepared.present_as_read = *body ? std::move(**body) : std::string(present->body);
  }
}

}  // namespace sluice::db
