// Reads the revisions of documents, which are earlier versions as they were stored (revisions.h).
//
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/document.h"
#include "db/document_policy.h"
#include "db/revisions.h"
#include "db/types.h"

namespace sluice::db {

class Database;
class DatabaseImpl;
class DatabaseSnapshot;
struct ScanOptions;

class RevisionStore {
 public:
  RevisionStore(Database& database, DatabaseImpl& impl) : database_(database), impl_(&impl) {}

  // The kept versions of a document, oldest first.
  Result<std::vector<Revision>> List(KeyspaceId keyspace, std::string_view key) const;
  Result<bool> Get(KeyspaceId keyspace, std::string_view key, uint64_t version,
                   PinnedDocument* document) const;
  // Also false for a version that is still stored, but beyond the limits.
  Result<bool> Has(KeyspaceId keyspace, std::string_view key, uint64_t version) const;
  // A revision by the key that its policy gives it.
  Result<bool> GetByKey(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                        PinnedDocument* document, const DatabaseSnapshot* snapshot) const;
  // The keys of documents that have revisions, deleted documents included, in key order. False ends
  // the scan.
  using KeyVisitor = std::function<bool(std::string_view key)>;
  Status ScanKeys(KeyspaceId keyspace, const ScanOptions& options, const KeyVisitor& visitor) const;
  // Deletes all of a document's revisions and returns their number. Waits.
  Result<uint64_t> Erase(KeyspaceId keyspace, std::string_view key);
  // The list as it is stored.
  Result<RevisionList> Stored(KeyspaceId keyspace, std::string_view key) const;

 private:
  Database& database_;
  DatabaseImpl* const impl_;
};

}  // namespace sluice::db
