// All triggers and consumers: their definitions, their cursors, and the threads of triggers. They
// work in the shards that the server owns.
//
// Creating a trigger makes a follower and then writes a meta row. After a crash between the two,
// the next start removes the one that is alone. What runs follows the rows, whoever writes them:
// after its commit a change here calls Refresh, and for the changes of others a thread does
// (db/row_refresher.h). Drop returns as soon as the removal is durable; it ends a run that is under
// way, whose writes are not committed.
//
// Concurrency: any thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/locked.h"
#include "base/mutex.h"
#include "db/ownership.h"
#include "db/row_refresher.h"
#include "failure/failure_list.h"
#include "follow/commit_wake.h"
#include "follow/shard_gate.h"
#include "procedure/store.h"
#include "procedure/trigger/definition.h"
#include "procedure/trigger/live_queue.h"
#include "procedure/trigger/progress.h"
#include "procedure/trigger/runner.h"
#include "query/engine.h"

namespace sluice::procedure {

inline constexpr std::string_view kTriggerRows = "triggers/";
inline constexpr size_t kMaxTriggers = 1024;

// The state of a trigger or a consumer, for operators.
struct TriggerStatus {
  std::shared_ptr<const TriggerDefinition> definition;
  TriggerProgress progress;
  uint64_t depth = 0;  // events that wait, in all shards
  uint64_t dead_letters = 0;
  // The first of those that wait: one that fails, or else the oldest one.
  std::optional<TriggerEvent> head;
  Seats::Occupancy occupancy;  // of a consumer
};

// The part of the state that is in memory.
struct TriggerCounts {
  std::string name;
  TriggerProgress progress;
  uint64_t dead_letters = 0;
};

class Triggers final : private db::ShardTenant {
 public:
  Triggers(query::QueryEngine& engine, const Store& store, lua::Limits limits);
  ~Triggers() override;  // Stop
  Triggers(const Triggers&) = delete;
  Triggers& operator=(const Triggers&) = delete;

  Status Start();
  void Stop();

  // Errors: trigger.exists, trigger.too_many, procedure.not_found. Waits.
  Status Create(TriggerDefinition definition);
  // Creates the trigger, or gives an existing one a new definition; that one keeps its cursor, its
  // events and its dead letters. Error trigger.exists when the existing one is of another kind or
  // follows other keyspaces.
  Status Replace(TriggerDefinition definition);
  // Error trigger.not_found. Waits.
  Status Drop(const std::string& name);
  // An operator stops a trigger, or lets it go on. Waits.
  Status Hold(const std::string& name, bool held);
  // Operators, in triggers_operation.cc; see TriggerRunner. Errors: trigger.not_found,
  // trigger.is_consumer.
  Result<TriggerStatus> StatusOf(const std::string& name) const;
  std::vector<TriggerStatus> ListStatus() const;
  std::vector<TriggerCounts> Counts() const;  // of triggers, not of consumers
  Result<std::shared_ptr<TriggerRunner>> RunnerOf(const std::string& name) const;
  Result<std::shared_ptr<failure::FailureList>> DeadLettersOf(const std::string& name) const;
  // The event of a dead letter, with its data.
  Result<Value> ShowDeadLetter(const std::string& name, const failure::FailureId& id) const;

  // Removes a dropped keyspace from all definitions. Waits.
  Status Forget(db::KeyspaceId keyspace);

  std::vector<std::string> On(db::KeyspaceId keyspace) const;
  bool Has(const std::string& name) const;
  // Error trigger.not_found.
  Result<std::shared_ptr<LiveQueue>> Find(const std::string& name) const;
  Result<TriggerProgress> ProgressOf(const std::string& name) const;
  // As comdb2_triggers and comdb2_queues list them.
  std::vector<Value> List() const;
  std::vector<Value> ListQueues() const;

 private:
  // Immutable.
  struct Live {
    std::shared_ptr<LiveQueue> queue;
    std::shared_ptr<failure::FailureList> dead_letters;
    std::shared_ptr<TriggerRunner> runner;  // null for a consumer
    follow::CommitWake::Subscription subscription;
  };

  // db::ShardTenant
  void Gained(db::ShardId shard) override;
  void Lost(db::ShardId shard) override;

  Status Load();
  Status ReconcileFollowers();
  Status ReconcileDeadLetters();
  Status Save(const std::string& name, const TriggerDefinition* definition);
  Status CreateFollower(const TriggerDefinition& definition);
  bool HasFollower(const std::string& name) const;
  // The stored definition; null: there is none.
  Result<std::shared_ptr<const TriggerDefinition>> Stored(const std::string& name) const;
  // Makes the trigger in memory what its row says.
  Status Refresh(const std::string& name) REQUIRES(change_mutex_);
  void OnRowChanged(const std::string& name);
  Status Launch(std::shared_ptr<const TriggerDefinition> definition);
  void Retire(const std::string& name) REQUIRES(change_mutex_);
  // trigger.not_found
  Result<std::shared_ptr<const Live>> LiveOf(const std::string& name) const;
  std::vector<std::shared_ptr<const Live>> All() const;

  // The events of all shards, from the stored cursors on (triggers_operation.cc).
  struct Waiting {
    uint64_t depth = 0;
    uint64_t consumed = 0;  // before them
    std::optional<TriggerEvent> head;
  };
  Result<Waiting> WaitingOf(const Live& live) const;

  query::QueryEngine& engine_;
  const Store& store_;
  const lua::Limits limits_;
  follow::CommitWake commits_;

  // The owned shards.
  const std::shared_ptr<follow::ShardGate> gate_ = std::make_shared<follow::ShardGate>();
  Mutex change_mutex_;  // one change of definitions at a time; held across its commits
  using LiveByName = std::map<std::string, std::shared_ptr<const Live>>;
  Locked<LiveByName> live_;
  // Runners of dropped triggers, whose threads end by themselves.
  Locked<std::vector<std::shared_ptr<TriggerRunner>>> retired_;
  std::unique_ptr<db::RowRefresher> refresher_;
};

}  // namespace sluice::procedure
