// The part of a commit that document types do, on the committer's thread.
//
//   1. A mutation of a typed document is computed first and becomes a put or a deletion, so that
//      there is one path for all writes.
//   2. The writer's thread has prepared the document. It is prepared here if the types changed
//      since, if a mutation has just computed the document, or if the result depends on a replaced
//      document that is no longer the present one.
//   3. Stamps and revisions depend on the present document. The writer's thread has settled them
//      over the document that it read. If that is still the present one, its result is used; if
//      not, they are settled here. The revision goes into the same batch, and the limits on
//      revisions hold after every commit.
//   4. Index rows belong to the form in which readers see a document. It may take a script to make
//      that form from the stored one; the writer's thread has run it, and has noted for which
//      version of the document. The committer itself runs a script only if that document was
//      replaced meanwhile by another one of an old version. A step ends within its time limit.
#include <array>

#include "base/bytes.h"
#include "base/utf8.h"
#include "db/group.h"

namespace sluice::db {
namespace {

bool PreparedFor(const Write& write, const DocumentPolicy& policy) {
  return write.prepared != nullptr && write.prepared->policy.get() == &policy;
}

std::string_view ActorOf(const Commit& commit) {
  return commit.actor.empty() ? commit.origin : commit.actor;
}

}  // namespace

// Whether the document that the writer's thread prepared can be used: it depends on no other
// document, or the one that it depends on is still the present one.
bool Group::StillPrepared(const Write& write, const DocumentPolicy& policy, const Staged& staged) {
  if (!PreparedFor(write, policy)) return false;
  return write.prepared->document ||
         (staged.ahead != nullptr && staged.ahead->live == staged.before.live &&
          staged.ahead->settled.body.has_value());
}

Status Group::StageTyped(const Commit& commit, Write& write, Staged* staged, WriteResult* result) {
  const DocumentPolicy& policy = *staged->keyspace->policy;
  RETURN_IF_ERROR(policy.CheckUsable());
  if (write.kind == Write::Kind::kMutate) {
    RETURN_IF_ERROR(ResolveMutation(write, staged, result));
  }
  if (write.kind != Write::Kind::kPut) return SettleDelete(write, staged);
  if (write.intent != Write::Intent::kChange) return OkStatus();
  const DocumentPolicy::WriteContext context{write.key, ActorOf(commit), context_.now_ms};
  if (!StillPrepared(write, policy, *staged)) {
    const DocumentPolicy::Replaced replaced{staged->before.live ? staged->before.view : nullptr, 0};
    ASSIGN_OR_RETURN(DocumentPolicy::Prepared made,
                     policy.Prepare(context, DocumentView::Of(write.document), replaced));
    if (!PreparedFor(write, policy)) {
      auto prepared = std::make_unique<PreparedWrite>();
      prepared->policy = staged->keyspace->policy;
      // `before` may point into it.
      if (write.prepared != nullptr) prepared->ahead = std::move(write.prepared->ahead);
      write.prepared = std::move(prepared);
    }
    staged->ahead = nullptr;  // it was settled under other types
    if (made.body) write.document.body = std::move(*made.body);
    write.prepared->violation = std::move(made.violation);
    write.prepared->diverted = std::move(made.diverted);
  }
  result->violation = write.prepared->violation;
  if (write.prepared->diverted) return Divert(*write.prepared, write, staged, result);
  return Settle(context, write, staged);
}

Status Group::ResolveMutation(Write& write, Staged* staged, WriteResult* result) {
  const DocumentView* present = staged->before.live ? staged->before.view : nullptr;
  if (present != nullptr && write.intent == Write::Intent::kChange) {
    present = AsRead(*staged, present);
    if (present == nullptr) {
      const auto failed = staged->keyspace->policy->AsRead(write.key, *staged->before.view);
      return failed ? OkStatus() : failed.error();
    }
  }
  Result<Mutated> mutated = write.mutation(present);
  if (!mutated) return std::move(mutated).error();
  result->reply = std::move(mutated->reply);
  write.kind = mutated->remove ? Write::Kind::kDelete : Write::Kind::kPut;
  write.document = std::move(mutated->document);
  write.document.cas = 0;
  if (write.prepared != nullptr) write.prepared->document = false;
  return OkStatus();
}

// The write goes to the quarantine keyspace instead, as a new document. The present document stays.
Status Group::Divert(const PreparedWrite& prepared, Write& write, Staged* staged,
                     WriteResult* result) {
  const KeyspaceName& name = staged->keyspace->policy->quarantine();
  ASSIGN_OR_RETURN(const auto keyspace, context_.catalog.Resolve(name));
  std::string key = write.key.substr(0, kMaxKeyBytes - 32);
  while (!IsValidUtf8(key)) key.pop_back();
  do {  // ends: stamps are all different, and so are their shards
    write.key = fmt::format("{}:{}", key, context_.clock.Next());
  } while (ShardOf(keyspace->id, write.key, context_.shards) != context_.shard);
  write.keyspace = keyspace->id;
  write.document = Document{.body = *prepared.diverted, .xattrs = {}};
  staged->keyspace = context_.catalog.Find(keyspace->id);
  staged->row_key = DocumentKey(context_.shard, write.keyspace, write.key);
  staged->before = Present{};
  result->diverted_to = fmt::format("{}/{}", name.ToString(), write.key);
  return OkStatus();
}

Status Group::Settle(const DocumentPolicy::WriteContext& context, Write& write, Staged* staged) {
  const DocumentPolicy& policy = *staged->keyspace->policy;
  const Present& before = staged->before;
  if (staged->ahead != nullptr && staged->ahead->live == before.live) {
    TakeSettled(write, staged);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(RevisionList list, Revisions(*staged));
  const bool expired_unseen = before.view != nullptr && !before.view->tombstone && !before.live;
  if (expired_unseen) {
    KeepRevision(policy.SettleDelete(write.key, *before.view, list.last()), &list, staged);
  }
  ASSIGN_OR_RETURN(DocumentPolicy::Settled settled,
                   policy.Settle(context, write.document.body,
                                 {before.live ? before.view : nullptr, list.last()}));
  if (settled.body) write.document.body = std::move(*settled.body);
  KeepRevision(settled, &list, staged);
  return OkStatus();
}

void Group::TakeSettled(Write& write, Staged* staged) {
  DocumentPolicy::Settled& settled = staged->ahead->settled;
  if (settled.body) write.document.body = std::move(*settled.body);
  KeepRevision(settled, &staged->ahead->revisions, staged);
}

Status Group::SettleDelete(const Write& write, Staged* staged) {
  const DocumentView* const present = staged->before.view;
  if (present == nullptr || present->tombstone) return OkStatus();
  const bool expires = write.kind == Write::Kind::kExpire;
  if (expires && present->expiry_ms != write.document.expiry_ms) return OkStatus();
  if (expires == staged->before.live) return OkStatus();  // nothing is deleted
  ASSIGN_OR_RETURN(RevisionList list, Revisions(*staged));
  KeepRevision(staged->keyspace->policy->SettleDelete(write.key, *present, list.last()), &list,
               staged);
  return OkStatus();
}

Result<RevisionList> Group::Revisions(const Staged& staged) {
  if (!staged.keyspace->policy->KeepsRevisions()) return RevisionList();
  if (const auto found = staged_revisions_.find(staged.row_key); found != staged_revisions_.end()) {
    return found->second;
  }
  ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                   LookupRow(storage::Family::kRevision,
                             RevisionRowKey(context_.shard, staged.keyspace->id, staged.write->key,
                                            kRevisionListVersion)));
  return stored ? RevisionList::Decode(*stored) : RevisionList();
}

void Group::KeepRevision(const DocumentPolicy::Settled& settled, RevisionList* list,
                         Staged* staged) {
  if (settled.limits == nullptr) return;
  const size_t had = list->revisions().size();
  if (settled.revision > list->last()) {
    list->Add(settled.revision, context_.now_ms);
    staged->revision = settled.revision;
  }
  const std::vector<Revision> removed =
      settled.purge ? list->Clear() : list->Trim(*settled.limits, context_.now_ms);
  if (settled.revision == 0 && removed.empty() && had == 0) return;
  auto& gone = staged->removed_revisions;
  gone.insert(gone.end(), removed.begin(), removed.end());
  staged->revisions = *list;
  if (several_writes_) staged_revisions_[staged->row_key] = *list;
}

// The document as readers see it. Null for null, and for a document that can't be migrated: it has
// no index rows.
const DocumentView* Group::AsRead(const Staged& staged, const DocumentView* document) {
  const DocumentPolicy* const policy = staged.keyspace->policy.get();
  if (document == nullptr || policy == nullptr || policy->read_form().empty()) return document;
  const Write& write = *staged.write;
  if (!policy->ReadsOtherwise(write.key, *document)) return document;
  Result<std::optional<std::string>> body = std::nullopt;
  const bool prepared = PreparedFor(write, *policy);
  if (prepared && document == &staged.after && write.prepared->written_as_read) {
    body = *write.prepared->written_as_read;
  } else if (prepared && document == staged.before.view &&
             write.prepared->sequence == document->sequence &&
             write.prepared->body_hash == std::hash<std::string_view>()(document->body)) {
    if (!write.prepared->present_as_read) return nullptr;
    body = *write.prepared->present_as_read;
  } else {
    body = policy->AsRead(write.key, *document);
  }
  if (!body) return nullptr;
  if (!*body) return document;
  Document& made = read_forms_.emplace_back(document->Copy());
  made.body = std::move(**body);
  return &read_.emplace_back(DocumentView::Of(made));
}

void Group::EmitRevisions(const Staged& staged) {
  if (!staged.revisions) return;
  std::string key = RevisionRowKey(context_.shard, staged.keyspace->id, staged.write->key, 0);
  const auto row_key = [&](uint64_t version) -> const std::string& {
    key.resize(key.size() - sizeof(version));
    AppendU64(&key, version);
    return key;
  };
  if (staged.revision != 0) {
    const std::string header = EncodeDocumentHeader(*staged.before.view);
    const std::array<std::string_view, 2> parts = {header, staged.before.view->body};
    batch_->PutParts(storage::Family::kRevision, row_key(staged.revision), parts);
  }
  for (const Revision& removed : staged.removed_revisions) {
    batch_->Delete(storage::Family::kRevision, row_key(removed.version));
  }
  const std::string& list_key = row_key(kRevisionListVersion);
  std::optional<std::string> list;
  if (!staged.revisions->empty()) list = staged.revisions->Encode();
  if (list) {
    batch_->Put(storage::Family::kRevision, list_key, *list);
  } else {
    batch_->Delete(storage::Family::kRevision, list_key);
  }
  rows_.insert_or_assign({storage::Family::kRevision, list_key}, std::move(list));
}

}  // namespace sluice::db
