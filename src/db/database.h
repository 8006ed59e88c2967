// The database: it owns the store, the shards and their committers, the catalog and the background
// work. Database itself reads documents and makes commits; everything else is behind an interface
// of its own:
//
//   admin       changes of the catalog             followers    the log's followers and cursors
//   rows        rows of other modules              read_forms   documents in the form of their type
//   revisions   earlier versions of documents      estimates    sizes of keyspaces and indexes
//   operations  backup, statistics, upkeep         ownership    the shards that this server owns
//   shard_copies  a shard's rows from and to another server
//
// Concurrency: every method may be called from any thread. Those marked "waits" block the caller
// until the commit is durable; callers on an event loop use Submit, or a worker.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "db/catalog.h"
#include "db/catalog_admin.h"
#include "db/commit.h"
#include "db/commit_limits.h"
#include "db/document.h"
#include "db/document_policy.h"
#include "db/estimates.h"
#include "db/followers.h"
#include "db/index_compiler.h"
#include "db/journal.h"
#include "db/log.h"
#include "db/operations.h"
#include "db/ownership.h"
#include "db/read_forms.h"
#include "db/revision_store.h"
#include "db/rows.h"
#include "db/shard_copy.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class DatabaseImpl;

// An owner has all shards from the start on. A standby has none: opening it writes nothing and
// starts nothing, it is fed with the groups of owners, and can be read. Shards come and go later
// (ownership.h).
enum class DatabaseRole : uint8_t { kOwner, kStandby };

struct DatabaseOptions {
  DatabaseRole role = DatabaseRole::kOwner;
  uint16_t shards = 1;  // used when the directory is made, and fixed then
  Durability durability = Durability::kSync;
  uint64_t sync_interval_ms = 100;
  uint64_t tombstone_retention_ms = 24ull * 3600 * 1000;
  uint64_t expiry_interval_ms = 1000;
  uint64_t trim_interval_ms = 5000;
  uint64_t access_interval_ms = 100;  // how often the times of reads are written to documents
  // How long the log is kept for followers without a stored cursor (change feeds of clients).
  uint64_t log_retention_ms = 60'000;
  size_t max_queued_commits = 65'536;      // per shard; past it a commit is refused
  size_t max_queued_bytes = 256ull << 20;  // per shard; at least one commit fits
  // Reads the SQL++ texts of index definitions. Null: indexes are made of paths only.
  std::shared_ptr<const IndexCompiler> index_compiler;
  // Reads the texts of document types. Null: keyspaces have none.
  std::shared_ptr<const PolicyCompiler> policy_compiler;
  // Makes groups durable. Null: the store's own log does, and answers at once.
  JournalFactory journal;
  // How long callers wait for the journal before they hear commit.unknown; 0: for ever.
  uint64_t answer_within_ms = 30'000;
  storage::StoreOptions store;
  CommitLimits commit_limits;
};

// All shards as they were at one moment: a commit is in it as a whole, or not at all. A document
// that expires after that moment stays alive in the snapshot.
class DatabaseSnapshot {
 public:
  const storage::Snapshot& store() const { return *store_; }
  uint64_t time_ms() const { return time_ms_; }
  // The snapshot's catalog. Null when the catalog was being changed at that moment: then read its
  // rows.
  const Catalog* catalog() const { return catalog_.get(); }

 private:
  friend class Database;
  std::unique_ptr<storage::Snapshot> store_;
  std::shared_ptr<const Catalog> catalog_;
  uint64_t time_ms_ = 0;
};

struct ScanOptions {
  std::string from;    // inclusive
  std::string to;      // exclusive; empty for none
  std::string prefix;  // only keys that begin with this
  bool reverse = false;
  bool with_tombstones = false;
  uint64_t limit = UINT64_MAX;
  const DatabaseSnapshot* snapshot = nullptr;
  OnUnreadable on_unreadable = nullptr;
};
// Called for each document in key order; false ends the scan.
using ScanVisitor = std::function<bool(std::string_view key, const DocumentView& document)>;

class Database {
 public:
  static Result<std::unique_ptr<Database>> Open(const std::string& directory,
                                                DatabaseOptions options, const Clock& clock);
  // Stops background work, completes all submitted commits, flushes.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  CatalogAdmin& admin() { return admin_; }
  Followers& followers() { return followers_; }
  const Followers& followers() const { return followers_; }
  const Rows& rows() const { return rows_; }
  const ReadForms& read_forms() const { return read_forms_; }
  RevisionStore& revisions() { return revisions_; }
  const RevisionStore& revisions() const { return revisions_; }
  const Estimates& estimates() const { return estimates_; }
  Operations& operations() { return operations_; }
  const Operations& operations() const { return operations_; }
  Ownership& ownership() const;
  ShardCopies& shard_copies() { return shard_copies_; }

  std::shared_ptr<const Catalog> catalog() const;
  Result<KeyspaceId> Resolve(const KeyspaceName& name) const;
  const Clock& clock() const;

  // --- reading ---
  // False when there is no such (live) document.
  Result<bool> Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document,
                   const DatabaseSnapshot* snapshot = nullptr) const;
  Result<std::optional<Document>> Get(KeyspaceId keyspace, std::string_view key) const;
  // The stored row, which may also be a tombstone or an expired document.
  Result<bool> GetRow(KeyspaceId keyspace, std::string_view key, PinnedDocument* document,
                      const DatabaseSnapshot* snapshot = nullptr) const;
  // Several rows at once. found[i] tells whether documents[i] was found.
  Status GetRows(KeyspaceId keyspace, std::span<const std::string_view> keys,
                 std::vector<PinnedDocument>* documents, std::vector<bool>* found,
                 const DatabaseSnapshot* snapshot = nullptr) const;
  Status Scan(KeyspaceId keyspace, const ScanOptions& options, const ScanVisitor& visitor) const;
  Result<uint64_t> CountDocuments(KeyspaceId keyspace) const;
  std::unique_ptr<DatabaseSnapshot> NewSnapshot() const;
  // The last commit of the shard in the snapshot.
  Result<Sequence> SequenceAt(const DatabaseSnapshot& snapshot, ShardId shard) const;

  // Document keys whose encoded index parts lie in [from, to), in index order.
  using IndexVisitor = std::function<bool(std::string_view parts, std::string_view key)>;
  Status ScanIndex(const Index& index, std::string_view from, std::string_view to,
                   const IndexVisitor& visitor, const DatabaseSnapshot* snapshot = nullptr) const;
  // OK if the snapshot has all rows of the index: the index was ready then, and not dropped. An
  // error for a primary index, which has no rows: scan its keyspace instead.
  Status CheckIndex(const Index& index, const DatabaseSnapshot& snapshot) const;

  // --- writing ---
  ShardId ShardOf(KeyspaceId keyspace, std::string_view key) const;
  ShardId ShardOfKey(std::string_view key) const;
  uint16_t shard_count() const;
  const CommitLimits& commit_limits() const;
  // The next stamp of the hybrid clock, for writers that must know a CAS before their commit.
  Cas NewCas();
  // This server must own the shards of the commit, else commit.not_owner. It does not wait for the
  // commit; the callback runs on a committer's thread, or at once on this one when the commit is
  // refused (overloaded, malformed). In a keyspace with types it reads and may run scripts
  // (ReadForms::RunsScripts): then call it from a thread that may block.
  void Submit(Commit commit, CommitCallback callback);
  // Waits.
  CommitResult Apply(Commit commit);

  // --- shards of other owners ---
  // Applies the next group of a shard, as Batch::Serialize gives it. `expected` is the shard's last
  // sequence before it (followers().LastSequence), else group.gap. Afterwards everything in memory
  // is what the rows say. A crash may undo the last groups: the feeder sends them again, from the
  // last sequence on. One thread for each shard at a time; the groups of one shard in order. Error
  // group.not_standby for a shard that this server owns, shard.incomplete (shard_copy.h).
  Status ApplyGroup(ShardId shard, Sequence expected, Sequence next, std::string_view bytes);
  // Gives this server all shards that it does not own. Nobody feeds it any more. Waits.
  Status TakeOver();

 private:
  friend const storage::Store& StoreOf(const Database& database);
  friend class OtherOwner;  // of tests
  explicit Database(std::unique_ptr<DatabaseImpl> impl);
  bool IsLive(const DocumentView& document, const DatabaseSnapshot* snapshot) const;
  CommitResult Admit(Commit* commit) const;

  std::unique_ptr<DatabaseImpl> impl_;
  CatalogAdmin admin_;
  Followers followers_;
  Rows rows_;
  ReadForms read_forms_;
  RevisionStore revisions_;
  Estimates estimates_;
  Operations operations_;
  ShardCopies shard_copies_;
};

}  // namespace sluice::db
