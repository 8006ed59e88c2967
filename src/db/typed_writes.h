// Prepares writes to keyspaces with document types before they reach the committer: finds their
// type, migrates them, checks limits and schema, and settles stamps and revisions over the document
// that is there now. Only database.cc includes it.
#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "db/catalog.h"
#include "db/commit.h"

namespace sluice::db {

class Database;
class DatabaseImpl;

class TypedWrites {
 public:
  TypedWrites(const Database& database, const DatabaseImpl& impl)
      : database_(database), impl_(&impl) {}

  // Fills in Write::prepared. On an error `failed` is the number of the refused write.
  Status Prepare(Commit* commit, int* failed) const;

 private:
  Status PrepareOne(const KeyspaceInfo& keyspace, std::string_view actor, size_t* room,
                    Write* write) const;
  Result<std::unique_ptr<ReadAhead>> ReadReplaced(const KeyspaceInfo& keyspace, const Write& write,
                                                  uint64_t now_ms) const;
  Status ReadPresent(const KeyspaceInfo& keyspace, Write* write) const;

  const Database& database_;
  const DatabaseImpl* const impl_;
};

}  // namespace sluice::db
