// Changes of the catalog: buckets, scopes, collections, tables, document types, indexes.
//
// Concurrency: any thread. Each change waits until it is durable and all shards see it; one runs at
// a time.
// Limitations: a change goes through the committers of all shards, so this server must own all of
// them: else error catalog.shards_away, and nothing has changed. Followers, also transient ones,
// are entries of the catalog.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "db/types.h"

namespace sluice::db {

class DatabaseImpl;

class CatalogAdmin {
 public:
  explicit CatalogAdmin(DatabaseImpl& impl) : impl_(&impl) {}

  Status CreateBucket(const std::string& bucket);
  Status DropBucket(const std::string& bucket);
  Status CreateScope(const std::string& bucket, const std::string& scope);
  Status DropScope(const std::string& bucket, const std::string& scope);
  Status CreateCollection(const KeyspaceName& name, uint64_t max_expiry_ms = 0);
  // Limits how long documents live that are written from now on; 0 for no limit.
  Status SetMaxExpiry(const KeyspaceName& name, uint64_t max_expiry_ms);
  Status DropCollection(const KeyspaceName& name);
  // Deletes all documents of a keyspace at once. Followers get no event for each of them.
  Status FlushCollection(const KeyspaceName& name);
  // Tables. Dropping one that a foreign key refers to is refused.
  Status CreateTable(TableSchema schema);
  Status DropTable(const std::string& table);
  Status RenameTable(const std::string& table, const std::string& to);
  // Replaces the schema, then rewrites the table's rows to fit it. Followers get no events for
  // that.
  Status AlterTable(TableSchema schema);
  // Document types. PutType adds a type or replaces the keyspace's type of that name. If that
  // changes the form in which documents are read, it returns when the keyspace's indexes are built
  // anew.
  Status PutType(const KeyspaceName& keyspace, TypeDefinition type);
  Status DropType(const std::string& type);
  // Registers the index and, unless it is deferred, returns when it is built. Writers go on
  // meanwhile.
  Status CreateIndex(const KeyspaceName& keyspace, IndexDefinition definition,
                     IndexBuild build = IndexBuild::kNow);
  // Builds the deferred ones of these indexes, as CreateIndex does. An index that can't be built
  // is deferred again.
  Status BuildIndex(const KeyspaceName& keyspace, const std::vector<std::string>& names);
  Status DropIndex(const KeyspaceName& keyspace, const std::string& name);

 private:
  DatabaseImpl* const impl_;
};

}  // namespace sluice::db
