// Runs a trigger's procedure for its events on a thread of its own.
//
// Operation: a ShardRunner for each shard that the trigger follows and may work in gives a batch in
// turn, so that no shard with events waits for another one that always has some. An event that
// fails holds up its shard only. Between batches the thread runs the commands of operators, also
// while the trigger is held.
// Concurrency: any thread; the private part belongs to the trigger's thread.
// Bounds: those of ShardRunner.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/locked.h"
#include "base/thread.h"
#include "failure/failure_list.h"
#include "follow/shard_gate.h"
#include "procedure/store.h"
#include "procedure/trigger/live_queue.h"
#include "procedure/trigger/progress.h"
#include "procedure/trigger/shard_runner.h"
#include "procedure/trigger/trigger_code.h"
#include "query/engine.h"

namespace sluice::procedure {

class TriggerRunner final {
 public:
  // The engine and the store must outlive the runner.
  TriggerRunner(query::QueryEngine& engine, const Store& store, std::shared_ptr<LiveQueue> queue,
                std::shared_ptr<failure::FailureList> dead_letters, lua::Limits limits);
  ~TriggerRunner();  // Stop, and waits
  TriggerRunner(const TriggerRunner&) = delete;
  TriggerRunner& operator=(const TriggerRunner&) = delete;

  // Call it once, when the runner is where EndRunIn is called from.
  void Start();
  // Ends the run that is under way. Does not wait.
  void Stop();
  // The gate of the shard is closed: ends the run that is under way there. Does not wait.
  void EndRunIn(db::ShardId shard);
  TriggerProgress progress() const { return progress_.Copy(); }

  // Commands of operators. The trigger's thread runs them between batches, also while the trigger
  // is held, and the caller waits for that. Errors: trigger.busy when it takes too long,
  // trigger.shard_lost when the event is in a shard that another server owns.
  //
  // These pass the event at the head of its shard, and end its run if there is one. Error
  // trigger.not_head when `event_id` is not there.
  Status Skip(const std::string& event_id);
  Status MoveToDeadLetters(const std::string& event_id);
  // Runs the procedure once for a dead letter, and removes the letter if that succeeds. Errors:
  // failure.not_found, trigger.source_gone, and those of the procedure.
  Status RetryDeadLetter(const failure::FailureId& id);

 private:
  struct Command {
    std::string event_id;  // the event to pass; empty for a dead letter
    std::function<Status()> run;
    std::promise<Status> done;
  };
  using Time = std::optional<Clock::Time>;
  void Loop();
  // False when the runner has to end.
  bool Step();
  void TakeDefinition(std::shared_ptr<const TriggerDefinition> definition);
  struct Round {
    bool worked = false;
    bool ended = false;
    Time until;  // when to step again at the latest
  };
  // A batch of each shard, or of fewer when there is something else to do.
  Round StepShards();
  // Of the shard of the pass.
  ShardRunner& RunnerIn(const follow::ShardGate::Pass& pass);
  void SetIdleState();
  bool ending() const { return code_.stopped() || queue_->dropped(); }
  bool interrupted() const;

  // runner_commands.cc
  Status Do(std::string event_id, std::function<Status()> run);
  bool HasCommands() const;
  void RunCommands();
  void RefuseCommands();
  enum class Pass : uint8_t { kForget, kKeep };
  Status PassHead(const std::string& event_id, Pass pass);
  Status AddDeadLetter(const TriggerEvent& event, failure::WriteSet& letters);
  Status CountDeadLetters(const failure::SizeChange& change);
  Status Retry(const failure::FailureId& id);
  Status RetryOnce(const failure::FailureId& id, const follow::Tenure& tenure);
  Status NoteRetryFailed(const failure::FailureId& id, const Status& status);

  query::QueryEngine& engine_;
  const std::shared_ptr<LiveQueue> queue_;
  const std::shared_ptr<failure::FailureList> dead_letters_;
  const std::string name_;
  TriggerCode code_;
  Locked<TriggerProgress> progress_;

  // These belong to the trigger's thread.
  std::shared_ptr<const TriggerDefinition> definition_;
  std::vector<db::ShardId> shards_;  // that the definition follows
  std::map<db::ShardId, std::unique_ptr<ShardRunner>> runners_;
  size_t turn_ = 0;  // in shards_: the first one of the next round

  struct Commands {
    std::deque<std::shared_ptr<Command>> waiting;
    bool refused = false;  // the thread has ended and runs no more commands
  };
  Locked<Commands> commands_;
  Thread thread_;
};

}  // namespace sluice::procedure
