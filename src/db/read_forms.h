// Reads documents in the form that their type gives them: a document that is stored in an old
// version of its schema is migrated when it is read.
//
// Concurrency: any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/document.h"
#include "db/document_policy.h"
#include "db/types.h"

namespace sluice::db {

class Database;
class DatabaseImpl;
class DatabaseSnapshot;

class ReadForms {
 public:
  ReadForms(Database& database, DatabaseImpl& impl) : database_(database), impl_(&impl) {}

  // The live document as it is stored, or at another version of its type's schema. False when there
  // is none.
  Result<bool> GetStored(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) const;
  Result<bool> GetAtVersion(KeyspaceId keyspace, std::string_view key, std::string_view version,
                            PinnedDocument* document) const;

  // Database::Get for a thread that must not wait. Returns nothing if a script has to run first:
  // then `document` is the stored one, and another thread must call FinishGet.
  Result<std::optional<bool>> GetAtOnce(KeyspaceId keyspace, std::string_view key,
                                        PinnedDocument* document) const;
  Status FinishGet(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) const;
  // Whether reading or writing documents of the keyspace may run scripts.
  bool RunsScripts(KeyspaceId keyspace) const;

  // The policy of the keyspace's types; null for keyspaces without types.
  std::shared_ptr<const DocumentPolicy> PolicyOf(KeyspaceId keyspace,
                                                 const DatabaseSnapshot* snapshot) const;
  // Database::Get for a database with types. `found` tells whether `document` holds a live one.
  Result<bool> FinishRead(bool found, KeyspaceId keyspace, std::string_view key,
                          PinnedDocument* document, const DatabaseSnapshot* snapshot) const;
  // Puts a stored document in the form that readers see.
  Status PutInReadForm(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                       PinnedDocument* document) const;

 private:
  void HoldReadForm(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                    std::string body, PinnedDocument* document) const;
  void NoteAccess(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                  const DocumentView& document) const;

  Database& database_;
  DatabaseImpl* const impl_;
};

}  // namespace sluice::db
