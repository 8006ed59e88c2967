// Document types in the database: setting them, what happens to a write before it is queued, and
// what readers see.
#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "db/conflict_retry.h"
#include "db/database_impl.h"
#include "db/merged_iterator.h"
#include "db/stored_cursor.h"

namespace sluice::db {

using Indexes = std::vector<std::shared_ptr<const Index>>;

// Of what the writes of one commit replace. What is beyond it, the committer reads.
constexpr size_t kMaxReadAheadBytes = 16ull << 20;

// --- definitions --------------------------------------------------------------------------------

Status Database::PutType(const KeyspaceName& name, TypeDefinition type) {
  std::unique_lock alone(impl_->catalog_change_mutex_);
  const std::shared_ptr<const Catalog> before = catalog();
  ASSIGN_OR_RETURN(const auto keyspace, before->Resolve(name));
  if (keyspace->table != nullptr) {
    return Error(Code::kInvalidArgument, "keyspace.is_system",
                 "{} is a table: it has columns instead of document types", name.ToString());
  }
  const std::string type_name = type.name;
  const KeyspaceInfo* const had = before->FindType(type_name);
  if (had != nullptr && had->id != keyspace->id) {
    return Error(Code::kConflict, "type.other_keyspace",
                 "there is a document type '{}' of {}, which would lose it: remove it first, or "
                 "choose another name",
                 type_name, had->name.ToString());
  }
  std::vector<TypeDefinition> types = keyspace->types;
  std::erase_if(types, [&](const TypeDefinition& each) { return each.name == type_name; });
  types.push_back(std::move(type));
  Indexes unfinished;
  RETURN_IF_ERROR(impl_->SetTypes(keyspace->id, std::move(types), &unfinished));
  alone.unlock();
  return impl_->BuildRemade(unfinished);
}

Status Database::DropType(const std::string& type) {
  std::unique_lock alone(impl_->catalog_change_mutex_);
  const std::shared_ptr<const Catalog> before = catalog();
  const KeyspaceInfo* const keyspace = before->FindType(type);
  if (keyspace == nullptr) {
    return Error(Code::kNotFound, "type.not_found", "there is no document type '{}'", type);
  }
  std::vector<TypeDefinition> types = keyspace->types;
  std::erase_if(types, [&](const TypeDefinition& each) { return each.name == type; });
  Indexes unfinished;
  RETURN_IF_ERROR(impl_->SetTypes(keyspace->id, std::move(types), &unfinished));
  alone.unlock();
  return impl_->BuildRemade(unfinished);
}

// Needs catalog_change_mutex_. The policy is compiled before the committers stand still for it.
// What is left to be done without the mutex is `unfinished`.
Status Database::Impl::SetTypes(KeyspaceId keyspace, std::vector<TypeDefinition> types,
                                std::vector<std::shared_ptr<const Index>>* unfinished) {
  const std::shared_ptr<const Catalog> before = CurrentCatalog();
  const KeyspaceName name = before->Find(keyspace)->name;
  std::shared_ptr<const DocumentPolicy> policy;
  if (!types.empty()) {
    if (options.policy_compiler == nullptr) {
      return Error(Code::kUnsupported, "type.unsupported",
                   "this server was started without document types");
    }
    ASSIGN_OR_RETURN(policy, options.policy_compiler->Compile(name, types));
  }
  std::vector<IndexId> made;
  RETURN_IF_ERROR(ChangeCatalogAlone([&](CatalogEdit& edit) -> Status {
    ASSIGN_OR_RETURN(made, edit.SetTypes(keyspace, std::move(types), std::move(policy)));
    return OkStatus();
  }));
  const std::shared_ptr<const Catalog> after = CurrentCatalog();
  for (const auto& index : after->Find(keyspace)->indexes) {
    if (std::ranges::find(made, index->id()) != made.end()) unfinished->push_back(index);
  }
  return OkStatus();
}

// One that is dropped meanwhile, or made anew by the next change of types, is no longer ours.
Status Database::Impl::BuildRemade(const std::vector<std::shared_ptr<const Index>>& indexes) {
  for (const auto& index : indexes) {
    const Status built = BuildIndex(index);
    if (!built.ok() && built.id() != "index.not_found") return built;
  }
  return OkStatus();
}

// --- writing ------------------------------------------------------------------------------------

Status Database::PrepareWrites(Commit* commit, int* failed) const {
  const std::shared_ptr<const Catalog> now = catalog();
  const std::string_view actor = commit->actor.empty() ? commit->origin : commit->actor;
  size_t room = kMaxReadAheadBytes;
  for (size_t i = 0; i < commit->writes.size(); ++i) {
    Write& write = commit->writes[i];
    const KeyspaceInfo* const keyspace = now->Find(write.keyspace);
    if (keyspace == nullptr || keyspace->policy == nullptr) continue;
    const Status prepared = PrepareWrite(*keyspace, actor, &room, &write);
    if (prepared.ok()) continue;
    *failed = static_cast<int>(i);
    return prepared;
  }
  return OkStatus();
}

// `room`: how many bytes may still be held of what the commit replaces.
Status Database::PrepareWrite(const KeyspaceInfo& keyspace, std::string_view actor, size_t* room,
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
    // A script may have looked at what is replaced: what it made is in `settled`, and where that is
    // another document by then, the committer has what was given.
    const bool rests_on_replaced = made.body && !made.diverted && policy.RunsScripts();
    if (made.body && !rests_on_replaced) write->document.body = std::move(*made.body);
    prepared.document = !rests_on_replaced;
    prepared.violation = std::move(made.violation);
    prepared.diverted = std::move(made.diverted);
    if (prepared.ahead != nullptr) prepared.ahead->settled = std::move(made.settled);
  }
  return ReadPresent(keyspace, write);
}

// Null when only the committer can settle it.
Result<std::unique_ptr<ReadAhead>> Database::ReadReplaced(const KeyspaceInfo& keyspace,
                                                          const Write& write,
                                                          uint64_t now_ms) const {
  const ShardId shard = ShardOf(keyspace.id, write.key);
  auto ahead = std::make_unique<ReadAhead>();
  ahead->as_of = impl_->committers[shard]->last_sequence();  // before anything is read
  ASSIGN_OR_RETURN(ahead->found, GetRow(keyspace.id, write.key, &ahead->present));
  ahead->live = ahead->found && ahead->present->LiveAt(now_ms);
  // It expires with this commit, and leaves a revision of its own.
  if (ahead->found && !ahead->live && !ahead->present->tombstone) return nullptr;
  if (keyspace.policy->KeepsRevisions()) {
    ASSIGN_OR_RETURN(ahead->revisions, StoredRevisions(keyspace.id, write.key));
  }
  return ahead;
}

Result<RevisionList> Database::StoredRevisions(KeyspaceId keyspace, std::string_view key) const {
  const std::string row =
      RevisionRowKey(ShardOf(keyspace, key), keyspace, key, kRevisionListVersion);
  storage::PinnedValue stored;
  ASSIGN_OR_RETURN(const bool found, impl_->store->Get(storage::Family::kRevision, row, &stored));
  return found ? RevisionList::Decode(stored.view()) : RevisionList();
}

// Runs here the scripts that the committer would have to run on what the write replaces.
Status Database::ReadPresent(const KeyspaceInfo& keyspace, Write* write) const {
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
  ASSIGN_OR_RETURN(const bool found, GetRow(write->keyspace, write->key, &present));
  return prepare(found, present);
}

bool HasRows(const KeyspaceInfo& keyspace) {
  return std::ranges::any_of(keyspace.indexes, [](const auto& index) { return index->kept(); });
}

void PrepareReadForms(const DocumentPolicy& policy, const DocumentView* present, Write* write) {
  PreparedWrite& prepared = *write->prepared;
  // A change is stored as readers see it, but for types that do not upgrade what is written.
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

// --- reading ------------------------------------------------------------------------------------

std::shared_ptr<const DocumentPolicy> Database::PolicyOf(KeyspaceId keyspace,
                                                         const DatabaseSnapshot* snapshot) const {
  if (!impl_->typed.load(std::memory_order_relaxed)) return nullptr;
  const Catalog* then = snapshot == nullptr ? nullptr : snapshot->catalog();
  std::shared_ptr<const Catalog> now;
  if (then == nullptr) {
    now = catalog();
    then = now.get();
  }
  const KeyspaceInfo* const info = then->Find(keyspace);
  return info == nullptr ? nullptr : info->policy;
}

Result<bool> Database::GetTyped(KeyspaceId keyspace, std::string_view key, PinnedDocument* document,
                                const DatabaseSnapshot* snapshot) const {
  ASSIGN_OR_RETURN(const bool found, GetRow(keyspace, key, document, snapshot));
  const bool live = found && IsLive(document->view(), snapshot);
  const auto policy = PolicyOf(keyspace, snapshot);
  if (policy == nullptr) return live;
  if (!live) return GetByRevisionKey(*policy, keyspace, key, document, snapshot);
  RETURN_IF_ERROR(PutInReadForm(*policy, keyspace, key, document));
  return true;
}

Status Database::PutInReadForm(const DocumentPolicy& policy, KeyspaceId keyspace,
                               std::string_view key, PinnedDocument* document) const {
  if (policy.NotesAccess()) NoteAccess(policy, keyspace, key, document->view());
  if (!policy.ReadsOtherwise(key, document->view())) return OkStatus();
  ASSIGN_OR_RETURN(std::optional<std::string> body, policy.AsRead(key, document->view()));
  if (body) HoldReadForm(policy, keyspace, key, std::move(*body), document);
  return OkStatus();
}

void Database::HoldReadForm(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                            std::string body, PinnedDocument* document) const {
  DocumentView view = document->view();
  view.body = {};
  auto made = std::make_shared<Document>(view.Copy());
  made->body = std::move(body);
  if (policy.Persists(key, document->view())) {
    // Whoever changes it first wins; if that is not this write, there is nothing left to do.
    Commit commit;
    commit.shard = ShardOf(keyspace, key);
    Document stored = *made;
    stored.cas = 0;
    Write write =
        PutWrite(keyspace, std::string(key), std::move(stored), Precondition::CasIs(made->cas));
    write.intent = Write::Intent::kMigrate;
    commit.writes.push_back(std::move(write));
    Committer& committer = *impl_->committers[commit.shard];
    if (Admit(&commit).status.ok()) committer.Submit(std::move(commit), [](CommitResult) {});
  }
  document->Hold(std::move(made));
}

// The reader neither waits for this nor hears of it.
void Database::NoteAccess(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                          const DocumentView& document) const {
  if (impl_->accesses.full()) return;
  if (policy.Accessed(key, document, impl_->clock.WallMs())) impl_->accesses.Add(keyspace, key);
}

Result<std::optional<bool>> Database::GetAtOnce(KeyspaceId keyspace, std::string_view key,
                                                PinnedDocument* document) const {
  const auto policy = PolicyOf(keyspace, nullptr);
  if (policy == nullptr || !policy->RunsScripts()) {
    ASSIGN_OR_RETURN(const bool found, Get(keyspace, key, document));
    return found;
  }
  ASSIGN_OR_RETURN(const bool live, GetStored(keyspace, key, document));
  if (!live) {
    ASSIGN_OR_RETURN(const bool found, GetByRevisionKey(*policy, keyspace, key, document, nullptr));
    return found;
  }
  if (policy->ReadsOtherwise(key, document->view())) {
    std::optional<std::string> body = policy->Remembered(key, document->view());
    if (!body) return std::nullopt;
    if (policy->NotesAccess()) NoteAccess(*policy, keyspace, key, document->view());
    HoldReadForm(*policy, keyspace, key, std::move(*body), document);
    return true;
  }
  RETURN_IF_ERROR(PutInReadForm(*policy, keyspace, key, document));
  return true;
}

Status Database::FinishGet(KeyspaceId keyspace, std::string_view key,
                           PinnedDocument* document) const {
  const auto policy = PolicyOf(keyspace, nullptr);
  return policy == nullptr ? OkStatus() : PutInReadForm(*policy, keyspace, key, document);
}

bool Database::RunsScripts(KeyspaceId keyspace) const {
  const auto policy = PolicyOf(keyspace, nullptr);
  return policy != nullptr && policy->RunsScripts();
}

Result<bool> Database::GetStored(KeyspaceId keyspace, std::string_view key,
                                 PinnedDocument* document) const {
  ASSIGN_OR_RETURN(const bool found, GetRow(keyspace, key, document));
  return found && IsLive(document->view(), nullptr);
}

Result<bool> Database::GetAtVersion(KeyspaceId keyspace, std::string_view key,
                                    std::string_view version, PinnedDocument* document) const {
  ASSIGN_OR_RETURN(const bool found, GetStored(keyspace, key, document));
  const auto policy = PolicyOf(keyspace, nullptr);
  if (policy == nullptr) {
    return Fail(Code::kInvalidArgument, "migration.unknown_version",
                "documents of this keyspace have no type, so there is no version '{}' of them",
                version);
  }
  if (!found) return false;
  if (policy->NotesAccess()) NoteAccess(*policy, keyspace, key, document->view());
  ASSIGN_OR_RETURN(std::optional<std::string> body, policy->AsRead(key, document->view(), version));
  if (body) {
    auto made = std::make_shared<Document>(document->view().Copy());
    made->body = std::move(*body);
    document->Hold(std::move(made));
  }
  return true;
}

// --- revisions ----------------------------------------------------------------------------------

Result<bool> Database::GetByRevisionKey(const DocumentPolicy& policy, KeyspaceId keyspace,
                                        std::string_view key, PinnedDocument* document,
                                        const DatabaseSnapshot* snapshot) const {
  const auto name = policy.RevisionOf(key);
  if (!name) return false;
  ASSIGN_OR_RETURN(const bool kept, HasRevision(keyspace, name->key, name->version));
  if (!kept) return false;
  const std::string row =
      RevisionRowKey(ShardOf(keyspace, name->key), keyspace, name->key, name->version);
  ASSIGN_OR_RETURN(const bool found,
                   impl_->store->Get(storage::Family::kRevision, row, document->value(),
                                     snapshot == nullptr ? nullptr : &snapshot->store()));
  if (!found) return false;
  RETURN_IF_ERROR(document->Decode());
  return true;
}

// A list that was made under other limits is read under the present ones.
Result<std::vector<Revision>> Database::Revisions(KeyspaceId keyspace, std::string_view key) const {
  ASSIGN_OR_RETURN(RevisionList list, StoredRevisions(keyspace, key));
  if (list.empty()) return std::vector<Revision>();
  const auto policy = PolicyOf(keyspace, nullptr);
  if (policy != nullptr) {
    PinnedDocument document;
    ASSIGN_OR_RETURN(const bool live, GetStored(keyspace, key, &document));
    const RevisionLimits* const limits = policy->LimitsOf(key, live ? &document.view() : nullptr);
    if (limits != nullptr) list.Trim(*limits, impl_->clock.WallMs());
  }
  return list.revisions();
}

Result<bool> Database::GetRevision(KeyspaceId keyspace, std::string_view key, uint64_t version,
                                   PinnedDocument* document) const {
  if (version == kRevisionListVersion) return false;
  const std::string row = RevisionRowKey(ShardOf(keyspace, key), keyspace, key, version);
  ASSIGN_OR_RETURN(const bool found,
                   impl_->store->Get(storage::Family::kRevision, row, document->value()));
  if (!found) return false;
  RETURN_IF_ERROR(document->Decode());
  return true;
}

Result<bool> Database::HasRevision(KeyspaceId keyspace, std::string_view key,
                                   uint64_t version) const {
  ASSIGN_OR_RETURN(const std::vector<Revision> kept, Revisions(keyspace, key));
  return std::ranges::find(kept, version, &Revision::version) != kept.end();
}

Result<uint64_t> Database::EraseRevisions(KeyspaceId keyspace, std::string_view key) {
  const ShardId shard = ShardOf(keyspace, key);
  const std::string list_row = RevisionRowKey(shard, keyspace, key, kRevisionListVersion);
  for (ConflictRetry retry;;) {
    std::string stored;
    ASSIGN_OR_RETURN(const bool found,
                     impl_->store->Get(storage::Family::kRevision, list_row, &stored));
    if (!found) return 0;
    ASSIGN_OR_RETURN(const RevisionList list, RevisionList::Decode(stored));
    Commit commit;
    commit.shard = shard;
    commit.rows.push_back({storage::Family::kRevision, list_row, std::nullopt, {{stored}}});
    for (const Revision& revision : list.revisions()) {
      commit.rows.push_back({storage::Family::kRevision,
                             RevisionRowKey(shard, keyspace, key, revision.version),
                             std::nullopt,
                             {}});
    }
    const Status applied = Apply(std::move(commit)).status;
    if (applied.ok()) return list.revisions().size();
    if (!retry.Again(applied)) return Unexpected(applied);
  }
}

Status Database::ScanRevised(KeyspaceId keyspace, const ScanOptions& options,
                             const RevisedVisitor& visitor) const {
  const DocumentRange range = RangeOf(options);
  MergedIterator rows(
      *impl_->store, storage::Family::kRevision, shard_count(), keyspace, {range.from, range.to},
      options.snapshot == nullptr ? nullptr : &options.snapshot->store(),
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
