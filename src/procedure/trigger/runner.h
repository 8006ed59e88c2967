// Runs a trigger's procedure for its events, in order, on a thread of its own.
//
// What has piled up is one transaction, unless runs are slow: the writes of all runs and the
// cursor's move past their events are one commit. A run that fails is undone alone; those before it
// are committed, and it is tried again by itself, without end, after pauses that grow. Nothing
// passes it: a trigger hears of changes in their order. When somebody else changed what a run had
// read, the events are run again one by one.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include "base/random.h"
#include "base/thread.h"
#include "failure/failure_list.h"
#include "lua/runtime.h"
#include "procedure/session.h"
#include "procedure/store.h"
#include "procedure/trigger/event_queue.h"
#include "procedure/trigger/live_queue.h"
#include "query/engine.h"

namespace sluice::procedure {

struct TriggerProgress {
  enum class State : uint8_t { kWaiting, kRunning, kFailing, kHeld, kStopped };
  State state = State::kWaiting;
  uint64_t handled = 0;    // events, since the server started
  uint64_t failures = 0;   // runs that failed
  uint64_t conflicts = 0;  // commits that were refused and run again
  // Of the event at the head, while it fails.
  std::string event_id;  // twelve bytes
  uint32_t attempts = 0;
  uint64_t next_try_ms = 0;
  uint64_t first_failure_ms = 0;
  std::string error;  // of the last failure, also when it has passed
  uint64_t error_ms = 0;
};
std::string_view StateName(TriggerProgress::State state);

class TriggerRunner {
 public:
  // All outlive the runner.
  TriggerRunner(query::QueryEngine& engine, const Store& store, std::shared_ptr<LiveQueue> queue,
                std::shared_ptr<failure::FailureList> dead_letters, lua::Limits limits);
  ~TriggerRunner();  // Stop, and waits
  TriggerRunner(const TriggerRunner&) = delete;
  TriggerRunner& operator=(const TriggerRunner&) = delete;

  // Ends the run that is under way. Does not wait.
  void Stop();
  TriggerProgress progress() const;

  // What operators ask for, done by the thread between runs, also while the trigger is held. A run
  // of the event that is passed is ended. They wait; trigger.busy when that takes too long.
  //
  // The event must be the one at the head: trigger.not_head otherwise.
  Status Skip(const std::string& event_id);
  Status MoveToDeadLetters(const std::string& event_id);
  // Runs the procedure once for a dead letter, which is gone when that succeeds. Errors:
  // failure.not_found, trigger.source_gone, and what the procedure failed with.
  Status RetryDeadLetter(uint64_t id);

 private:
  struct Command {
    std::string event_id;  // that it is about; empty for a dead letter
    std::function<Status()> run;
    std::promise<Status> done;
  };
  void Loop();
  // False when the runner has to end.
  bool Step();
  Status RunBatch(bool* idle);
  Status EnsureRuntime();
  Status RunOne(const TriggerEvent& event);
  Status Commit(db::Transaction& transaction, size_t events);
  void Failed(const Status& status);
  void PauseAfterFailure();
  void Rest(uint64_t seen);
  bool ending() const { return ending_->load() || queue_->dropped(); }
  void SetState(TriggerProgress::State state);
  Status OpenQueue();
  void HeadPassed();

  // runner_commands.cc
  Status Do(std::string event_id, std::function<Status()> run);
  bool HasCommands() const;
  void RunCommands();
  void RefuseCommands();
  enum class Pass : uint8_t { kForget, kKeep };
  Status PassHead(const std::string& event_id, Pass pass);
  Status AddDeadLetter(const TriggerEvent& event, failure::WriteSet& letters);
  Status CountDeadLetters(const failure::SizeChange& change);
  Status Retry(uint64_t id);
  Status RetryOnce(uint64_t id);
  Status NoteRetryFailed(uint64_t id, const Status& status);

  query::QueryEngine& engine_;
  const Store& store_;
  const std::shared_ptr<LiveQueue> queue_;
  const std::shared_ptr<failure::FailureList> dead_letters_;
  const std::string name_;
  const lua::Limits limits_;
  Random random_;

  // Of the thread.
  std::unique_ptr<EventQueue> events_;
  std::shared_ptr<const TriggerDefinition> definition_;
  std::shared_ptr<const lua::Program> program_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<lua::Runtime> runtime_;
  size_t most_at_once_;
  uint32_t attempts_ = 0;

  // Also ends the statement that a run waits for.
  const std::shared_ptr<std::atomic<bool>> ending_ = std::make_shared<std::atomic<bool>>(false);
  mutable std::mutex mutex_;
  TriggerProgress progress_;         // under mutex_
  lua::Runtime* running_ = nullptr;  // under mutex_, while a call is under way
  std::string running_event_;        // under mutex_; its id
  bool interrupted_ = false;         // under mutex_; that call, or the next one, is ended by Do
  std::deque<std::shared_ptr<Command>> commands_;  // under mutex_
  bool ended_ = false;                             // under mutex_; no command is run any more
  Thread thread_;
};

}  // namespace sluice::procedure
