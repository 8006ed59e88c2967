// Migrates all stored documents of a type to its current version, in the background.
//
// Operation: one thread runs one job after the other, and a second thread shares its work. A job
// reads the stored documents in key order, and writes each document of an older version back in the
// current one. The write requires that the document is unchanged; a changed document is read and
// migrated again. After each chunk the job stores its position and counts, and continues there
// after a crash: it finds documents that were migrated since then already migrated. If the type's
// current version changes, the job starts over, so that at its end all documents have one version.
// What is known of a job follows its row, whoever writes it (db/row_watch.h), and each change of a
// row expects what was known: of two that change it, one looks again. Dry runs have no row.
//
// Jobs belong to the shard of definitions: its owner runs them, in the shards that it owns. A shard
// that is away is left out, and another pass over its documents follows when it has been gained;
// the job runs until then. Lost waits for the end of the chunk. Concurrency: any thread. Limits:
// one job per type; all failures are counted, and the first kMaxFailures are listed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/locked.h"
#include "base/signal.h"
#include "base/status.h"
#include "base/thread.h"
#include "db/database.h"
#include "db/row_watch.h"
#include "json/value.h"

namespace sluice::doctype_db {

struct MigrationOptions {
  bool dry_run = false;   // nothing is written, also not how far it got
  bool announce = false;  // functions and feeds get an event for each document
  uint64_t rate = 0;      // documents per second that are written at most; 0: as fast as it goes
};

struct MigrationJob {
  static constexpr size_t kMaxFailures = 100;
  enum class State : uint8_t { kRunning, kDone, kCancelled, kFailed };
  struct Failure {
    std::string key;
    std::string id;
    std::string message;
  };

  std::string type;
  MigrationOptions options;
  State state = State::kRunning;
  std::string to;    // the version that documents are brought to
  std::string next;  // the key to go on with
  // Shards by the first key to look at. The pass is over these; empty: over all. And those that it
  // has left out so far, because they were away: the next pass is over them.
  using Shards = std::map<db::ShardId, std::string>;
  Shards pass;
  Shards left;
  uint64_t restarts = 0;   // because the current version of the type changed
  uint64_t about = 0;      // documents of the keyspace when it began, an estimate
  uint64_t scanned = 0;    // of them, how many were passed
  uint64_t documents = 0;  // of the type that were looked at
  uint64_t migrated = 0;
  uint64_t failed = 0;
  std::map<std::string, uint64_t> before;  // documents by version
  std::map<std::string, uint64_t> after;
  std::map<std::string, uint64_t> lost;  // documents by path of a value that is no longer there
  std::vector<Failure> failures;         // the first of them
  std::string problem;                   // of kFailed
  uint64_t started_ms = 0;
  uint64_t ended_ms = 0;

  json::Value ToJson() const;
  static Result<MigrationJob> FromJson(const json::Value& value);
  void AddFailure(const std::string& key, const Status& error);
  // Resets the counts, which are about another version.
  void StartOver(const std::string& version);
  // Leaves out the shards of the pass that are not among `owned`, from now on.
  void LeaveOut(uint16_t shards, const std::set<db::ShardId>& owned);
  void BeginNextPass();
  // Whether the pass, as far as it is, looks at this document.
  bool Passes(db::ShardId shard, std::string_view key) const;
};

class MassMigration final : private db::ShardTenant {
 public:
  // The database outlives it.
  explicit MassMigration(db::Database& database);
  ~MassMigration() override;  // a job that runs goes on after the next start
  MassMigration(const MassMigration&) = delete;
  MassMigration& operator=(const MassMigration&) = delete;

  // Starts the thread. Jobs that a crash or a stop interrupted continue.
  Status Start();
  // type.not_found, migration.running; migration.none for a type without migrations. Waits for the
  // last chunk of a job that was cancelled.
  Result<MigrationJob> Begin(const std::string& type, const MigrationOptions& options);
  // The job that runs or ran last; migration.no_job.
  Result<MigrationJob> Find(const std::string& type) const;
  // The same, once `holds` is true of it. Waits; it looks again after each chunk.
  using Condition = std::function<bool(const MigrationJob& job)>;
  Result<MigrationJob> WaitUntil(const std::string& type, const Condition& holds) const;
  Status Cancel(const std::string& type);

 private:
  struct Chunk;
  struct Attempt;

  // db::ShardTenant
  void Gained(db::ShardId shard) override;
  void Lost(db::ShardId shard) override;

  void Run();
  // A job, and its row as it was when that job was read; empty: there was none.
  struct Known {
    MigrationJob job;
    std::string row;
  };
  Status Refresh(const std::string& type, const std::optional<std::string>& row);
  // A job, and the shards in which it may work.
  struct Turn {
    Known known;
    std::set<db::ShardId> owned;
  };
  std::optional<Turn> NextJob();
  std::optional<Known> KnownOf(const std::string& type) const;
  bool IsCancelled(const std::string& type) const;
  void Publish(MigrationJob job, std::string row);
  void KeepInMemory(MigrationJob job);
  // False after the last chunk. `written`: how many documents had to be written.
  bool RunChunk(MigrationJob* job, uint64_t* written);
  bool IsCurrent(const MigrationJob& job) const;
  Status ReadChunk(const MigrationJob& job, Chunk* chunk) const;
  void Migrate(const Chunk& chunk, MigrationJob* job);
  std::vector<std::string> TryOnce(const Chunk& chunk, const std::vector<std::string>& keys,
                                   MigrationJob* job);
  void TryShare(const Chunk& chunk, std::span<const std::string> keys,
                const MigrationOptions& options, std::deque<Attempt>* attempts);
  bool Prepare(const Chunk& chunk, const std::string& key, const MigrationOptions& options,
               Attempt* attempt);
  // Error row.changed if the row is not `row` any more.
  Status Store(const MigrationJob& job, const std::string& row);
  void Wait(const MigrationJob& job, uint64_t chunk_started_ns, uint64_t written);

  db::Database& database_;
  struct Jobs {
    std::map<std::string, Known> by_type;
    std::string current;  // the type whose chunk the thread works on; empty: none
    uint64_t chunks = 0;  // that were begun
    std::set<db::ShardId> owned;
  };
  Locked<Jobs> jobs_;
  Signal wake_;              // for the thread: a job began or was cancelled
  mutable Signal progress_;  // for those that wait for a job: it changed
  db::RowWatch watch_;
  Thread thread_;
};

}  // namespace sluice::doctype_db
