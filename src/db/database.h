// The database: what the rest of the server holds. Owns the store, the shards and their committers,
// the catalog and the background work.
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
#include "db/commit.h"
#include "db/commit_limits.h"
#include "db/document.h"
#include "db/document_policy.h"
#include "db/index_compiler.h"
#include "db/log.h"
#include "db/revisions.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class Traffic;

enum class Durability : uint8_t {
  kSync,      // acknowledged when on disk
  kInterval,  // acknowledged when written; on disk within sync_interval_ms
  kNone,      // acknowledged when written; on disk when the system gets to it
};

struct DatabaseOptions {
  uint16_t shards = 1;  // used when the directory is made; fixed from then on
  Durability durability = Durability::kSync;
  uint64_t sync_interval_ms = 100;
  uint64_t tombstone_retention_ms = 24ull * 3600 * 1000;
  uint64_t expiry_interval_ms = 1000;
  uint64_t trim_interval_ms = 5000;
  uint64_t access_interval_ms = 100;  // how often documents that were read are made to say so
  // How long the log is kept for followers that do not hold it (change feeds of clients).
  uint64_t log_retention_ms = 60'000;
  size_t max_queued_commits = 65'536;      // per shard; past it a commit is refused
  size_t max_queued_bytes = 256ull << 20;  // per shard; at least one commit fits
  // Reads the SQL++ texts of index definitions. Null: indexes are made of paths only.
  std::shared_ptr<const IndexCompiler> index_compiler;
  // Reads the texts of document types. Null: keyspaces have none.
  std::shared_ptr<const PolicyCompiler> policy_compiler;
  storage::StoreOptions store;
  CommitLimits commit_limits;
};

// All shards as they were at one moment. A document that was to expire later lives in it for good.
class DatabaseSnapshot {
 public:
  const storage::Snapshot& store() const { return *store_; }
  uint64_t time_ms() const { return time_ms_; }
  // What the snapshot's catalog rows say. Null when the catalog was being changed at that moment:
  // then they must be read.
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

struct ShardStats {
  Sequence sequence = 0;
  Sequence trimmed = 0;  // log rows up to here are gone
  uint64_t commits = 0;
  uint64_t groups = 0;
  uint64_t rejected = 0;
  uint64_t queued = 0;
  uint64_t writes = 0;
  uint64_t sync_ns = 0;  // total time spent making groups durable
};

struct DatabaseStats {
  std::vector<ShardStats> shards;
  storage::StoreStats store;
  uint64_t expired = 0;
  bool read_only = false;  // the last write failed (disk full, damaged file)
  std::string failure;
};

struct FollowerOptions {
  std::string name;
  std::vector<KeyspaceId> keyspaces;
  // Besides these, all keyspaces that match it, also those made later.
  std::optional<KeyspaceName> pattern;
  bool needs_before = false;
  bool needs_after = true;
  bool holds_log = true;
  uint16_t lanes = 1;
  enum class Start : uint8_t { kNow, kEverything };
  Start start = Start::kNow;
};

class Database {
 public:
  static Result<std::unique_ptr<Database>> Open(const std::string& directory,
                                                DatabaseOptions options, const Clock& clock);
  // Stops background work, completes what was submitted, flushes.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // --- catalog (each change waits) ---
  std::shared_ptr<const Catalog> catalog() const;
  Result<KeyspaceId> Resolve(const KeyspaceName& name) const;
  Status CreateBucket(const std::string& bucket);
  Status DropBucket(const std::string& bucket);
  Status CreateScope(const std::string& bucket, const std::string& scope);
  Status DropScope(const std::string& bucket, const std::string& scope);
  Status CreateCollection(const KeyspaceName& name, uint64_t max_expiry_ms = 0);
  // Of documents written from now on; 0 for no limit.
  Status SetMaxExpiry(const KeyspaceName& name, uint64_t max_expiry_ms);
  Status DropCollection(const KeyspaceName& name);
  // Deletes all documents of a keyspace at once. Followers are not told of each one.
  Status FlushCollection(const KeyspaceName& name);
  // Tables. Dropping one that a foreign key refers to is refused.
  Status CreateTable(TableSchema schema);
  Status DropTable(const std::string& table);
  Status RenameTable(const std::string& table, const std::string& to);
  // The schema becomes another one; rows that are there are then put in its form, which followers
  // are not told of.
  Status AlterTable(TableSchema schema);
  // Document types. One that is there is replaced, also if it was another keyspace's. If documents
  // are read in another form from then on, returns when the keyspace's indexes are built anew.
  Status PutType(const KeyspaceName& keyspace, TypeDefinition type);
  Status DropType(const std::string& type);
  // Registers the index and, unless it is deferred, returns when it is built. Writers go on
  // meanwhile.
  Status CreateIndex(const KeyspaceName& keyspace, IndexDefinition definition,
                     IndexBuild build = IndexBuild::kNow);
  // Builds those of these indexes that are deferred, as CreateIndex does. One that can't be built
  // is deferred again.
  Status BuildIndex(const KeyspaceName& keyspace, const std::vector<std::string>& names);
  Status DropIndex(const KeyspaceName& keyspace, const std::string& name);

  // --- reading ---
  // False when there is no such (live) document.
  Result<bool> Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document,
                   const DatabaseSnapshot* snapshot = nullptr) const;
  Result<std::optional<Document>> Get(KeyspaceId keyspace, std::string_view key) const;
  // The stored row as it is: a tombstone or an expired document counts as found.
  Result<bool> GetRow(KeyspaceId keyspace, std::string_view key, PinnedDocument* document,
                      const DatabaseSnapshot* snapshot = nullptr) const;
  // Several rows at once. found[i] tells whether documents[i] was found.
  Status GetRows(KeyspaceId keyspace, std::span<const std::string_view> keys,
                 std::vector<PinnedDocument>* documents, std::vector<bool>* found,
                 const DatabaseSnapshot* snapshot = nullptr) const;
  // The same as Get for a thread that must not wait: nothing if a script has to run first. Then the
  // document is the stored one, and FinishGet on another thread does what is left.
  Result<std::optional<bool>> GetAtOnce(KeyspaceId keyspace, std::string_view key,
                                        PinnedDocument* document) const;
  Status FinishGet(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) const;
  // Whether reading or writing documents of the keyspace may run scripts.
  bool RunsScripts(KeyspaceId keyspace) const;
  Status Scan(KeyspaceId keyspace, const ScanOptions& options, const ScanVisitor& visitor) const;
  // The document as it is stored, or at another version of its type's schema.
  Result<bool> GetStored(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) const;
  Result<bool> GetAtVersion(KeyspaceId keyspace, std::string_view key, std::string_view version,
                            PinnedDocument* document) const;
  // What is kept of a document's earlier versions, oldest first. They are read as stored.
  Result<std::vector<Revision>> Revisions(KeyspaceId keyspace, std::string_view key) const;
  // One of them.
  Result<bool> GetRevision(KeyspaceId keyspace, std::string_view key, uint64_t version,
                           PinnedDocument* document) const;
  // False for one that is beyond the limits and only still stored, too.
  Result<bool> HasRevision(KeyspaceId keyspace, std::string_view key, uint64_t version) const;
  // Forgets all of them; gives how many there were. Waits.
  Result<uint64_t> EraseRevisions(KeyspaceId keyspace, std::string_view key);
  // Keys of documents of which revisions are kept, also of those that are deleted, in key order.
  using RevisedVisitor = std::function<bool(std::string_view key)>;
  Status ScanRevised(KeyspaceId keyspace, const ScanOptions& options,
                     const RevisedVisitor& visitor) const;
  Result<uint64_t> CountDocuments(KeyspaceId keyspace) const;
  std::unique_ptr<DatabaseSnapshot> NewSnapshot() const;
  // The last commit of the shard that the snapshot has.
  Result<Sequence> SequenceAt(const DatabaseSnapshot& snapshot, ShardId shard) const;

  // Document keys whose encoded index parts lie in [from, to), in index order.
  using IndexVisitor = std::function<bool(std::string_view parts, std::string_view key)>;
  Status ScanIndex(const Index& index, std::string_view from, std::string_view to,
                   const IndexVisitor& visitor, const DatabaseSnapshot* snapshot = nullptr) const;
  // OK when the snapshot has all rows of the index: it was ready by then, and not dropped. A
  // primary index has no rows; it is read as its keyspace.
  Status CheckIndex(const Index& index, const DatabaseSnapshot& snapshot) const;

  // Keys that cut the keyspace into about `parts` equal ones, for a parallel scan; none when it is
  // too small for that to pay.
  std::vector<std::string> SplitPoints(KeyspaceId keyspace, size_t parts) const;
  // About how many documents a keyspace has, and how many rows an index has in a range of encoded
  // parts (as ScanIndex takes it). Small numbers are exact.
  uint64_t EstimateRows(KeyspaceId keyspace) const;
  uint64_t EstimateRows(const Index& index, std::string_view from, std::string_view to) const;

  // --- writing ---
  ShardId ShardOf(KeyspaceId keyspace, std::string_view key) const;
  uint16_t shard_count() const;
  const CommitLimits& commit_limits() const;
  Durability durability() const;
  // The next stamp of the hybrid clock, for writers that must know a CAS before their commit.
  Cas NewCas();
  // All writes must belong to commit.shard. Never blocks; the callback runs on the committer's
  // thread, or at once on this one when the commit is refused (overloaded, malformed).
  void Submit(Commit commit, CommitCallback callback);
  // Waits.
  CommitResult Apply(Commit commit);

  // --- following ---
  // Waits. Creates the follower and its cursors; an existing one of that name is an error.
  Status CreateFollower(const FollowerOptions& options);
  Status DropFollower(const std::string& name);  // with its cursors; waits
  Result<CursorState> ReadCursor(const CursorId& cursor) const;
  // Logs a keyspace's changes for as long as the returned token lives, and log_retention_ms after
  // it. The token may outlive the database.
  Result<std::shared_ptr<void>> FollowTransiently(KeyspaceId keyspace);
  // True when the log has every change of the keyspace after `position` (else: backfill). Of a
  // keyspace that was dropped there is nothing to miss.
  bool LogCovers(KeyspaceId keyspace, ShardId shard, Sequence position,
                 LogContent content = LogContent::kDocuments) const;
  // Commits up to this one are no longer in the log.
  Sequence LogTrimmed(ShardId shard) const;
  // True when the deletions after `position` are still known. Else only a full read is right.
  bool TombstonesCover(ShardId shard, Sequence position) const;
  // Called after each durable group of the shard, on the committer's thread; must only post, and
  // must not let go of its own token.
  std::shared_ptr<void> OnCommitted(ShardId shard, CommitListener listener);
  Sequence LastSequence(ShardId shard) const;

  // --- operation ---
  // A consistent copy of everything in a new directory, while writes go on.
  Status Backup(const std::string& directory) const;
  Status Verify() const;
  DatabaseStats Stats() const;
  // Run what the background thread runs, now. For tests and for the administrator.
  Result<uint64_t> ExpireNow();
  uint64_t StampAccessesNow();
  Status TrimNow();

  // What clients were seen to do with documents since the start.
  Traffic& traffic() const;

  const Clock& clock() const;
  const storage::Store& store() const;

  // What a found row is to a reader: in the form that the keyspace's types say. `policy` is
  // PolicyOf, which is null for keyspaces without types.
  std::shared_ptr<const DocumentPolicy> PolicyOf(KeyspaceId keyspace,
                                                 const DatabaseSnapshot* snapshot) const;
  Status PutInReadForm(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                       PinnedDocument* document) const;
  // A revision by the key that its policy gives it.
  Result<bool> GetByRevisionKey(const DocumentPolicy& policy, KeyspaceId keyspace,
                                std::string_view key, PinnedDocument* document,
                                const DatabaseSnapshot* snapshot) const;

 private:
  class Impl;
  bool IsLive(const DocumentView& document, const DatabaseSnapshot* snapshot) const;
  Result<bool> GetTyped(KeyspaceId keyspace, std::string_view key, PinnedDocument* document,
                        const DatabaseSnapshot* snapshot) const;
  CommitResult Admit(Commit* commit) const;
  Status PrepareWrites(Commit* commit, int* failed) const;
  Status PrepareWrite(const KeyspaceInfo& keyspace, std::string_view actor, size_t* room,
                      Write* write) const;
  Result<std::unique_ptr<ReadAhead>> ReadReplaced(const KeyspaceInfo& keyspace, const Write& write,
                                                  uint64_t now_ms) const;
  Result<RevisionList> StoredRevisions(KeyspaceId keyspace, std::string_view key) const;
  Status ReadPresent(const KeyspaceInfo& keyspace, Write* write) const;
  void HoldReadForm(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                    std::string body, PinnedDocument* document) const;
  void NoteAccess(const DocumentPolicy& policy, KeyspaceId keyspace, std::string_view key,
                  const DocumentView& document) const;
  void ObserveUpdates(const Commit& commit) const;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::db
