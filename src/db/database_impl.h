// The inside of Database, shared by the files that implement it and its interfaces: database.cc
// (opening, reading, writing), catalog_admin*.cc (catalog changes, tables, types, index building),
// followers.cc, read_forms.cc, revisions.cc, operations.cc, recovery.cc (what opening finds),
// maintenance.cc (expiry, tombstones, trimming). Not included elsewhere, tests of `db` aside.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "db/access_queue.h"
#include "db/catalog.h"
#include "db/catalog_edit.h"
#include "db/committer.h"
#include "db/coverage.h"
#include "db/database.h"
#include "db/directory.h"
#include "db/hybrid_clock.h"
#include "db/journal.h"
#include "db/traffic.h"
#include "db/update_samples.h"
#include "storage/store.h"

namespace sluice::db {

// Runs the scripts that a write of this document, and of `present` before it, needs for its index
// rows; into write->prepared (typed_writes.cc).
void PrepareReadForms(const DocumentPolicy& policy, const DocumentView* present, Write* write);
// Whether documents of the keyspace have index rows.
bool HasRows(const KeyspaceInfo& keyspace);
// The store of a database. Only `db` reads it past the interfaces.
const storage::Store& StoreOf(const Database& database);

class DatabaseImpl {
 public:
  DatabaseImpl(std::string directory, DatabaseOptions options, const Clock& clock)
      : directory(std::move(directory)), options(std::move(options)), clock(clock) {}
  ~DatabaseImpl();

  Status Open();
  std::shared_ptr<const Catalog> CurrentCatalog() const;

  // catalog_admin.cc
  using CatalogChange = std::function<Status(CatalogEdit&)>;
  Status ChangeCatalog(const CatalogChange& change);
  Status BuildIndex(std::shared_ptr<const Index> index);
  Status FillIndex(const Index& index);  // adds the rows of all older documents
  Status BuildIfNeeded(const KeyspaceName& keyspace, IndexId id);
  Status CheckBuiltUnique(const KeyspaceName& keyspace, IndexId id);
  Status RewriteTable(KeyspaceId table);
  Result<bool> RewriteChunk(KeyspaceId table, std::string* from);
  Status SetTypes(KeyspaceId keyspace, std::vector<TypeDefinition> types,
                  std::vector<std::shared_ptr<const Index>>* unfinished)
      REQUIRES(catalog_change_mutex_);
  Status BuildRemade(const std::vector<std::shared_ptr<const Index>>& indexes);
  Status DropFollower(const std::string& name) REQUIRES(catalog_change_mutex_);

  // recovery.cc
  Status CleanUpAfterCrash();
  Status LoadCoverage();

  // maintenance.cc
  void StartBackground();
  void StopBackground();
  Result<uint64_t> Expire();
  // access.cc
  uint64_t StampAccesses();  // gives how many documents were stamped
  Status TrimAll();
  // update_samples.cc
  void CompareSamples();  // enters in `traffic` what the sampled commits changed

  const std::string directory;
  DatabaseOptions options;
  const Clock& clock;
  DirectoryFormat format;
  std::unique_ptr<storage::Store> store;
  std::unique_ptr<HybridClock> stamps;
  std::unique_ptr<Journal> journal;
  LogCoverage coverage;
  std::vector<std::unique_ptr<Committer>> committers;  // by shard
  std::atomic<uint64_t> expired{0};
  // Some keyspace has, or had since the start, document types. False: nobody need look.
  std::atomic<bool> typed{false};
  AccessQueue accesses;
  db::Traffic traffic;
  UpdateSamples samples;

 private:
  friend class Database;
  friend class CatalogAdmin;
  friend class Followers;
  Status OpenStore();
  Status ChangeCatalogAlone(const CatalogChange& change) REQUIRES(catalog_change_mutex_);
  void EndCoverage(const Catalog& before, const Catalog& after);
  void StartCoverageOfNew(const Catalog& before, const Catalog& after);
  void StartCoverage(const Catalog& before, const Catalog& after, ShardId shard, Sequence since);
  Status CreateCursors(const FollowerOptions& options);
  Status DeleteCursors(const std::string& follower);
  Status DropIncompleteFollowers();
  Status EmptyInvalidIndexes();
  Status RemakeOutdatedIndexes();
  Status DropOrphans(ShardId shard);
  Result<bool> BuildIndexChunk(const Index& index, ShardId shard, std::string* from);
  Status PurgeTombstones(ShardId shard, const std::vector<std::string>& expiry_keys);
  Sequence TombstonesNeededAfter(ShardId shard, Sequence last) const;
  Sequence TrimHorizon(ShardId shard, Sequence last) const;
  bool HasLogRows(ShardId shard, Sequence up_to) const;
  Status Trim(ShardId shard);
  Status ReleaseTransientFollowers();
  bool MustWait(KeyspaceId keyspace) const;
  Result<std::optional<Commit>> AccessCommit(const Catalog& now, KeyspaceId keyspace,
                                             const std::string& key) const;
  void KeepInheritedLog();
  void SampleSequences();
  Sequence RetainedSequence(ShardId shard) const;
  void Background();
  void Tick(uint64_t tick);

  mutable Mutex catalog_mutex_;
  std::shared_ptr<const Catalog> catalog_ GUARDED_BY(catalog_mutex_);

  // One catalog change at a time, through all shards. Taken before any other mutex.
  Mutex catalog_change_mutex_;
  // Odd while a change is between its first row and its catalog's being seen: stored rows and
  // catalog_ may differ.
  std::atomic<uint64_t> catalog_changes_{0};

  // Transient followers that ended, since the background last looked. Shared with their tokens.
  struct Departures {
    Mutex mutex;
    std::vector<KeyspaceId> keyspaces GUARDED_BY(mutex);
  };
  const std::shared_ptr<Departures> departures_ = std::make_shared<Departures>();
  // The same with the time when they were noticed; released after a while.
  Mutex departed_mutex_;
  std::vector<std::pair<KeyspaceId, uint64_t>> departed_ GUARDED_BY(departed_mutex_);

  // (time, last sequence of each shard), oldest first: what "log_retention_ms ago" was.
  mutable Mutex samples_mutex_;
  std::deque<std::pair<uint64_t, std::vector<Sequence>>> samples_ GUARDED_BY(samples_mutex_);

  // Until then the log that an earlier process left is kept for clients that come back.
  uint64_t inherited_log_until_ms_ = 0;

  Mutex expire_mutex_;  // one expiry run at a time

  Mutex background_mutex_;
  CondVar background_wake_;
  bool background_stop_ GUARDED_BY(background_mutex_) = false;
  Thread background_;
  Thread index_builder_;
};

}  // namespace sluice::db
