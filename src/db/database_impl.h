// The inside of Database, shared by the files that implement it and its interfaces: database.cc
// (opening, reading, writing), catalog_admin*.cc (catalog changes, tables, types, index building),
// followers.cc, read_forms.cc, revisions.cc, operations.cc, shards.cc (shards come and go),
// recovery.cc (what crashes have left), maintenance.cc (expiry, tombstones, trimming), standby.cc
// (groups as they are written), shard_copy.cc. Not included elsewhere, tests of `db` aside.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/locked.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "base/thread.h"
#include "db/access_queue.h"
#include "db/catalog.h"
#include "db/catalog_edit.h"
#include "db/clean_cut.h"
#include "db/committer.h"
#include "db/coverage.h"
#include "db/database.h"
#include "db/directory.h"
#include "db/hybrid_clock.h"
#include "db/journal.h"
#include "db/last_policy.h"
#include "db/ownership.h"
#include "db/shared_commits.h"
#include "db/traffic.h"
#include "db/update_samples.h"
#include "storage/store.h"

namespace sluice::db {

// Runs the scripts that the committer needs for the index rows of this write and of `present`,
// which it replaces. Puts the results into write->prepared (typed_writes.cc).
void PrepareReadForms(const DocumentPolicy& policy, const DocumentView* present, Write* write);
// Whether documents of the keyspace have index rows.
bool HasRows(const KeyspaceInfo& keyspace);
// The store of a database. Only `db` reads it past the interfaces.
const storage::Store& StoreOf(const Database& database);

class DatabaseImpl final : private ShardTenant {
 public:
  DatabaseImpl(std::string directory, DatabaseOptions options, const Clock& clock)
      : directory(std::move(directory)), options(std::move(options)), clock(clock) {}
  ~DatabaseImpl() override;

  Status Open();
  std::shared_ptr<const Catalog> CurrentCatalog() const;
  bool IsShared(Commit* commit) const;

  // shards.cc: what the database does in the shards that this server owns. What a crash has left is
  // cleaned up when a shard is gained; if that fails, it goes on all the same, and GiveAll says so.
  Status GiveAll();
  bool Owns(ShardId shard) const { return committers[shard]->owns(); }
  bool OwnsAll() const;
  Status CheckOwnsAll() const;  // error catalog.shards_away
  // Each owned shard gets its turn, whatever happens to the others; the last failure. A shard that
  // is taken meanwhile does not fail.
  Status ForOwnedShards(const std::function<Status(ShardId shard)>& work);

  // standby.cc: what is kept in memory of the rows follows each group that was written to the
  // store.
  Status ApplyGroup(ShardId shard, Sequence expected, Sequence next, std::string_view bytes);
  void FollowGroup(ShardId shard, const storage::Batch& batch, const Committed& committed);

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
  Status CleanUpShard(ShardId shard);
  Status CleanUpCatalog();  // all shards are owned
  Status LoadCoverage(ShardId shard);

  // shard_copy.cc
  Result<bool> IsIncomplete(ShardId shard, const storage::Snapshot* snapshot = nullptr) const;
  static Status IncompleteError(ShardId shard);
  // Writes the last batch of a copy; `meta_keys` are those that the shard had, and those that it
  // has now.
  Status FollowCopy(ShardId shard, const std::set<std::string>& meta_keys, storage::Batch* batch);

  // maintenance.cc
  void StartBackground();     // once
  void StartIndexBuilding();  // of indexes that were interrupted; all shards are owned
  void StopBackground();
  Result<uint64_t> Expire();
  // access.cc
  uint64_t StampAccesses();  // gives how many documents were stamped
  Status TrimAll();
  // update_samples.cc
  void CompareSamples();  // enters the changes of sampled commits in `traffic`

  const std::string directory;
  DatabaseOptions options;
  const Clock& clock;
  const LastPolicy policies{options.policy_compiler};
  DirectoryFormat format;
  std::unique_ptr<storage::Store> store;
  std::unique_ptr<HybridClock> stamps;
  std::unique_ptr<Journal> journal;
  LogCoverage coverage;
  std::vector<std::unique_ptr<Committer>> committers;  // by shard
  CleanCut cut;                                        // through all shards
  std::unique_ptr<SharedCommits> shared;
  Ownership ownership;
  Locked<std::set<ShardId>> incomplete;  // shards whose copy is not complete
  std::atomic<uint64_t> expired{0};
  // Some keyspace has, or had since the start, document types. False: readers and writers skip the
  // check.
  std::atomic<bool> typed{false};
  AccessQueue accesses;
  db::Traffic traffic;
  UpdateSamples samples;

 private:
  friend class Database;
  friend class CatalogAdmin;
  friend class Followers;
  // ShardTenant
  void Gained(ShardId shard) override;
  void Lost(ShardId shard) override;
  Status StartCommitter(ShardId shard);
  Status OpenStore();
  Status ChangeCatalogAlone(const CatalogChange& change) REQUIRES(catalog_change_mutex_);
  // A change of the catalog is under way: the stored rows and catalog_ may differ.
  struct Changing {
    explicit Changing(std::atomic<uint64_t>& changes) : changes(changes) { ++changes; }
    ~Changing() { ++changes; }
    std::atomic<uint64_t>& changes;
  };
  Result<std::shared_ptr<const Catalog>> CatalogAfter(const storage::Batch& batch) const;
  void PublishCatalog(std::shared_ptr<const Catalog> after, Sequence since);
  void CoverFollower(const Catalog& catalog, const std::string& name, ShardId shard);
  void UncoverFollower(const Catalog& catalog, const std::string& name, ShardId shard);
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
  Status ExpireIn(ShardId shard, uint64_t* total);
  Status PurgeTombstones(ShardId shard, const std::vector<std::string>& expiry_keys);
  Sequence TombstonesNeededAfter(ShardId shard, Sequence last) const;
  Sequence TrimHorizon(ShardId shard, Sequence last) const;
  bool HasLogRows(ShardId shard, Sequence up_to) const;
  Status Trim(ShardId shard);
  Status ReleaseTransientFollowers();
  bool MustWait(KeyspaceId keyspace) const;
  Result<std::optional<Commit>> AccessCommit(const Catalog& now, KeyspaceId keyspace,
                                             const std::string& key) const;
  void KeepInheritedLog(ShardId shard);
  uint64_t InheritedLogUntilMs(ShardId shard) const;
  void SampleSequences();
  Sequence RetainedSequence(ShardId shard) const;
  void Background();
  void Tick(uint64_t tick);

  Locked<std::shared_ptr<const Catalog>> catalog_;

  // One catalog change at a time, through all shards. Taken before any other mutex.
  Mutex catalog_change_mutex_;
  // Odd from the first stored row of a change until catalog_ is replaced: in between, the stored
  // rows and catalog_ may differ.
  std::atomic<uint64_t> catalog_changes_{0};

  // Transient followers that ended. Their keyspaces stay logged for log_retention_ms after the
  // background has seen that, for clients that come back. Shared with the tokens of the followers,
  // which may outlive the database.
  struct Departed {
    KeyspaceId keyspace = 0;
    std::optional<uint64_t> seen_ms = std::nullopt;  // monotonic
  };
  using Departures = Locked<std::vector<Departed>>;
  const std::shared_ptr<Departures> departures_ = std::make_shared<Departures>();

  // The last sequence of each shard at earlier times, oldest first. It answers which sequence was
  // the last one log_retention_ms ago.
  struct SequenceSample {
    uint64_t time_ms = 0;  // monotonic
    std::vector<Sequence> sequences;
  };
  Locked<std::deque<SequenceSample>> sequence_samples_;

  // The log that an earlier owner left is kept until then (monotonic), for clients that come back.
  Locked<std::map<ShardId, uint64_t>> inherited_log_until_ms_;

  Locked<Status> clean_up_;  // the first failure since GiveAll

  Signal background_end_;
  Thread background_;     // since a shard was owned for the first time
  Thread index_builder_;  // since all shards were owned
};

}  // namespace sluice::db
