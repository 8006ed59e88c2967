#include "db/read_forms.h"

#include "db/database_impl.h"

namespace sluice::db {

std::shared_ptr<const DocumentPolicy> ReadForms::PolicyOf(KeyspaceId keyspace,
                                                          const DatabaseSnapshot* snapshot) const {
  if (!impl_->typed.load(std::memory_order_relaxed)) return nullptr;
  const Catalog* then = snapshot == nullptr ? nullptr : snapshot->catalog();
  std::shared_ptr<const Catalog> now;
  if (then == nullptr) {
    now = impl_->CurrentCatalog();
    then = now.get();
  }
  const KeyspaceInfo* const info = then->Find(keyspace);
  return info == nullptr ? nullptr : info->policy;
}

Result<bool> ReadForms::FinishRead(bool found, KeyspaceId keyspace, std::string_view key,
                                   PinnedDocument* document,
                                   const DatabaseSnapshot* snapshot) const {
  const auto policy = PolicyOf(keyspace, snapshot);
  if (policy == nullptr) return found;
  if (!found) return database_.revisions().GetByKey(*policy, keyspace, key, document, snapshot);
  RETURN_IF_ERROR(PutInReadForm(*policy, keyspace, key, document));
  return true;
}

Status ReadForms::PutInReadForm(const DocumentPolicy& policy, KeyspaceId keyspace,
                                std::string_view key, PinnedDocument* document) const {
  if (policy.NotesAccess()) NoteAccess(policy, keyspace, key, document->view());
  if (!policy.ReadsOtherwise(key, document->view())) return OkStatus();
  ASSIGN_OR_RETURN(std::optional<std::string> body, policy.AsRead(key, document->view()));
  if (body) HoldReadForm(policy, keyspace, key, std::move(*body), document);
  return OkStatus();
}

void ReadForms::HoldReadForm(const DocumentPolicy& policy, KeyspaceId keyspace,
                             std::string_view key, std::string body,
                             PinnedDocument* document) const {
  DocumentView view = document->view();
  view.body = {};
  auto made = std::make_shared<Document>(view.Copy());
  made->body = std::move(body);
  if (const ShardId shard = database_.ShardOf(keyspace, key);
      impl_->Owns(shard) && policy.Persists(key, document->view())) {
    // If another write changes the document first, there is nothing left to do.
    Commit commit;
    commit.shard = shard;
    Document stored = *made;
    stored.cas = 0;
    Write write =
        PutWrite(keyspace, std::string(key), std::move(stored), Precondition::CasIs(made->cas));
    write.intent = Write::Intent::kMigrate;
    commit.writes.push_back(std::move(write));
    database_.Submit(std::move(commit), [](CommitResult) {});
  }
  document->Hold(std::move(made));
}

// The background writes the time of the read (access.cc); the reader does not wait for it.
void ReadForms::NoteAccess(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                           const DocumentView& document) const {
  if (impl_->accesses.full() || !impl_->Owns(database_.ShardOf(keyspace, key))) return;
  if (policy.Accessed(key, document, impl_->clock.WallMs())) impl_->accesses.Add(keyspace, key);
}

Result<std::optional<bool>> ReadForms::GetAtOnce(KeyspaceId keyspace, std::string_view key,
                                                 PinnedDocument* document) const {
  const auto policy = PolicyOf(keyspace, nullptr);
  if (policy == nullptr || !policy->RunsScripts()) {
    ASSIGN_OR_RETURN(const bool found, database_.Get(keyspace, key, document));
    return found;
  }
  ASSIGN_OR_RETURN(const bool live, GetStored(keyspace, key, document));
  if (!live) {
    ASSIGN_OR_RETURN(const bool found,
                     database_.revisions().GetByKey(*policy, keyspace, key, document, nullptr));
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

Status ReadForms::FinishGet(KeyspaceId keyspace, std::string_view key,
                            PinnedDocument* document) const {
  const auto policy = PolicyOf(keyspace, nullptr);
  return policy == nullptr ? OkStatus() : PutInReadForm(*policy, keyspace, key, document);
}

bool ReadForms::RunsScripts(KeyspaceId keyspace) const {
  const auto policy = PolicyOf(keyspace, nullptr);
  return policy != nullptr && policy->RunsScripts();
}

Result<bool> ReadForms::GetStored(KeyspaceId keyspace, std::string_view key,
                                  PinnedDocument* document) const {
  ASSIGN_OR_RETURN(const bool found, database_.GetRow(keyspace, key, document));
  return found && document->view().LiveAt(impl_->clock.WallMs());
}

Result<bool> ReadForms::GetAtVersion(KeyspaceId keyspace, std::string_view key,
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

}  // namespace sluice::db
