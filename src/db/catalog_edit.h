// One change of the catalog: it starts from a catalog, collects edits, and returns the new catalog
// and the rows that store it. Used on the committer's thread, inside a task.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "db/commit.h"
#include "db/index_compiler.h"
#include "db/types.h"
#include "json/value.h"
#include "storage/store.h"

namespace sluice::db {

// Rows of the catalog by key; none: the row was deleted.
using CatalogRowMap = std::map<std::string, std::optional<std::string>, std::less<>>;
// Those that a group writes and deletes.
CatalogRowMap CatalogRowMapOf(const storage::Batch& batch);

class CatalogEdit {
 public:
  // Without a compiler, indexes can be made of paths only.
  explicit CatalogEdit(const Catalog& base, const IndexCompiler* compiler = nullptr);

  Status CreateBucket(const std::string& bucket);  // with its _default scope and collection
  Status DropBucket(const std::string& bucket);
  Status CreateScope(const std::string& bucket, const std::string& scope);
  Status DropScope(const std::string& bucket, const std::string& scope);
  Status CreateCollection(const KeyspaceName& name, uint64_t max_expiry_ms);
  // Limits how long documents live that are written from now on; 0 for no limit.
  Status SetMaxExpiry(const KeyspaceName& name, uint64_t max_expiry_ms);
  Status DropCollection(const KeyspaceName& name);

  // Tables (catalog_edit_tables.cc): keyspaces with a schema. Its keys become indexes.
  Status CreateTable(TableSchema schema);
  Status DropTable(const std::string& table);
  // Replaces the schema of a table. The names and the indexes stay.
  Status SetTableSchema(TableSchema schema);
  Status RenameTable(const std::string& table, const std::string& to);

  Result<IndexId> CreateIndex(const KeyspaceName& keyspace, IndexDefinition definition,
                              IndexBuild build = IndexBuild::kNow);
  // Does nothing if the index was dropped meanwhile. An index that becomes deferred or invalid
  // loses its rows.
  void SetIndexState(KeyspaceId keyspace, IndexId index, Index::State state);
  // Marks the deferred indexes of these names to be built, and returns their ids.
  Result<std::vector<IndexId>> StartIndexes(const KeyspaceName& keyspace,
                                            const std::vector<std::string>& names);
  Status DropIndex(const KeyspaceName& keyspace, const std::string& name);

  // Replaces the types of a keyspace and their policy (null for none). If that changes the form in
  // which documents are read, the indexes get new ids, which it returns: the caller must build
  // them. kChanged: the stored index rows are from a server that read documents in another form.
  enum class ReadRules : uint8_t { kSame, kChanged };
  Result<std::vector<IndexId>> SetTypes(KeyspaceId keyspace, std::vector<TypeDefinition> types,
                                        std::shared_ptr<const DocumentPolicy> policy,
                                        ReadRules rules = ReadRules::kSame);
  // The keyspaces that have such types.
  static Result<std::set<KeyspaceId>> OutdatedTypes(const storage::Store& store);

  Status CreateFollower(FollowerInfo follower);
  Status DropFollower(const std::string& name);
  Status AddTransientFollower(KeyspaceId keyspace);
  void RemoveTransientFollower(KeyspaceId keyspace);

  // The rows that the change writes, and the keyspaces and indexes whose rows must be deleted.
  const std::vector<RowWrite>& rows() const { return rows_; }
  const std::vector<KeyspaceId>& dropped_keyspaces() const { return dropped_keyspaces_; }
  const std::vector<IndexId>& dropped_indexes() const { return dropped_indexes_; }
  std::shared_ptr<const Catalog> Finish();

  // The catalog after rows of `base` were written or deleted (catalog_load.cc). What has no rows
  // (transient followers) and what the rows do not touch stays as it is in `base`.
  static Result<std::shared_ptr<const Catalog>> FromRows(const Catalog& base,
                                                         const CatalogRowMap& rows,
                                                         const IndexCompiler* compiler = nullptr,
                                                         const PolicyCompiler* policies = nullptr);
  static Result<std::shared_ptr<const Catalog>> Load(const storage::Store& store,
                                                     const IndexCompiler* compiler = nullptr,
                                                     const PolicyCompiler* policies = nullptr);

 private:
  void PutRow(std::string key, const std::string& json);
  void DeleteRow(std::string key);
  void JoinFollowers(const KeyspaceInfo& keyspace);
  void LeaveFollowers(KeyspaceId id);
  void DropKeyspace(KeyspaceId id);
  void PutKeyspace(KeyspaceInfo info);
  void PutIds();
  void PutTablesBucket();
  Status CheckFreeName(const std::string& name) const;
  Result<std::shared_ptr<const TableSchema>> TableWithoutKey(const TableSchema& table,
                                                             const std::string& name) const;
  Status CreateKeyspace(KeyspaceInfo info);
  Result<BucketInfo*> FindBucket(const std::string& bucket);
  Result<ScopeInfo*> FindScope(const std::string& bucket, const std::string& scope);
  void UnloadRow(std::string_view key);
  Status LoadRow(std::string_view key, std::string_view value);
  Status LoadKeyspace(const json::Value& value);
  Status LoadType(std::string_view name, const json::Value& value);
  Status LoadIndexes(const CatalogRowMap& rows);
  void ForgetName(const KeyspaceInfo& keyspace);
  void CompileTypes(const PolicyCompiler* compiler);
  static void CompilePolicy(const PolicyCompiler* compiler, KeyspaceInfo* keyspace);
  void RemakeIndexes(KeyspaceInfo* keyspace, std::vector<IndexId>* made);
  void Derive();

  const IndexCompiler* const compiler_;
  std::shared_ptr<Catalog> next_;
  std::vector<RowWrite> rows_;
  std::vector<KeyspaceId> dropped_keyspaces_;
  std::vector<IndexId> dropped_indexes_;  // and those that only lose their rows
  std::set<KeyspaceId> retyped_;          // FromRows: rows of their types were written or deleted
};

}  // namespace sluice::db
