// Runs a trigger's procedure for its events, in order, on a thread of its own.
//
// Operation: a follower whose events run one after the other (follow/serial_follower.h) gives it
// batches. The writes of all runs of a batch and the cursor's move past their events are one
// commit. A run that fails is undone alone and tried again without end, after growing pauses. Later
// events wait for it, because a trigger sees changes in their order. Between batches the thread
// runs the commands of operators, also while the trigger is held.
// Concurrency: any thread; the private part belongs to the trigger's thread.
// Bounds: those of follow/batch_runner.h, and kMostWrites and kMostBytes in a commit.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/locked.h"
#include "base/thread.h"
#include "db/transaction.h"
#include "failure/failure_list.h"
#include "follow/serial_follower.h"
#include "procedure/store.h"
#include "procedure/trigger/live_queue.h"
#include "procedure/trigger/trigger_code.h"
#include "query/engine.h"

namespace sluice::procedure {

struct TriggerProgress {
  enum class State : uint8_t { kWaiting, kRunning, kFailing, kHeld, kStopped };
  State state = State::kWaiting;
  uint64_t handled = 0;    // events, since the server started
  uint64_t failures = 0;   // runs that failed
  uint64_t conflicts = 0;  // commits that were refused and run again
  // These describe the event at the head of the queue while it fails.
  std::string event_id;  // twelve bytes
  uint32_t attempts = 0;
  uint64_t next_try_ms = 0;
  uint64_t first_failure_ms = 0;
  std::string error;  // of the last failure; stays after a success
  uint64_t error_ms = 0;
};
std::string_view StateName(TriggerProgress::State state);

class TriggerRunner final : private follow::Processor, private follow::FailurePolicy {
 public:
  // The engine and the store must outlive the runner.
  TriggerRunner(query::QueryEngine& engine, const Store& store, std::shared_ptr<LiveQueue> queue,
                std::shared_ptr<failure::FailureList> dead_letters, lua::Limits limits);
  ~TriggerRunner() override;  // Stop, and waits
  TriggerRunner(const TriggerRunner&) = delete;
  TriggerRunner& operator=(const TriggerRunner&) = delete;

  // Ends the run that is under way. Does not wait.
  void Stop();
  TriggerProgress progress() const { return progress_.Copy(); }

  // Commands of operators. The trigger's thread runs them between batches, also while the trigger
  // is held, and the caller waits for that. Error trigger.busy when it takes too long.
  //
  // These pass the event at the head of the queue, and end its run if there is one. Error
  // trigger.not_head when `event_id` is another event.
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
  void Loop();
  // False when the runner has to end.
  bool Step();
  void Pause(Clock::Time until);
  bool ending() const { return code_.stopped() || queue_->dropped(); }
  void SetState(TriggerProgress::State state);
  void HeadPassed();

  // follow::Processor
  void Begin() override;
  Result<Ran> Run(const follow::Event& event, Place place) override;
  bool full() const override;
  db::Commit TakeCommit() override;
  void Committed(std::span<const follow::EventPtr> events) override;
  void Refused(const Status& status) override;
  // follow::FailurePolicy
  follow::Verdict OnTrouble(follow::Trouble trouble, const Status& status) override;

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
  Status RetryOnce(const failure::FailureId& id);
  Status NoteRetryFailed(const failure::FailureId& id, const Status& status);

  query::QueryEngine& engine_;
  const std::shared_ptr<LiveQueue> queue_;
  const std::shared_ptr<failure::FailureList> dead_letters_;
  const std::string name_;
  TriggerCode code_;

  // These belong to the trigger's thread.
  follow::DatabaseSink sink_;
  follow::GrowingPauses pauses_;
  std::shared_ptr<const TriggerDefinition> definition_;
  std::optional<db::Transaction> transaction_;  // of the batch
  follow::SerialFollower follower_;

  Locked<TriggerProgress> progress_;
  struct Commands {
    std::deque<std::shared_ptr<Command>> waiting;
    bool refused = false;  // the thread has ended and runs no more commands
  };
  Locked<Commands> commands_;
  Thread thread_;
};

}  // namespace sluice::procedure
