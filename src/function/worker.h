// One of a function's workers: a thread with an isolate, which takes what has piled up for its
// lanes, runs it and commits the effects together with the lanes' cursors.
//
// An event takes effect once: its writes and its cursor move, or the end of its timer, are one
// commit, and a commit that was built on an outdated read is not applied but run again. An event
// whose handler throws, or whose commit is refused for what is in it, has no effect but that its
// cursor moves, or its timer ends, and that it is kept as a failure; that is one commit too. A
// retry of it ends in the same way.
//
// What handlers have done is not kept back for those after them: a batch ends after a while, and an
// event that takes long is run by itself. A stop ends the call that runs, whose event is left to
// the next run.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/random.h"
#include "base/thread.h"
#include "failure/failure_list.h"
#include "follow/turns.h"
#include "function/event.h"
#include "function/failed_event.h"
#include "function/handler.h"
#include "function/held_log.h"
#include "function/statistics.h"
#include "timer/scheduler.h"

namespace sluice::function {

class Trap;

// What the workers of a function share. The owner outlives them.
struct WorkerContext {
  const Services& services;
  timer::Scheduler& timers;
  failure::FailureList& failures;
  std::shared_ptr<const Definition> definition;
  Prepared prepared;
  std::string follower;  // also the owner of the timers
  db::ShardId shard = 0;
  std::array<db::CursorState, kLanes>& cursors;  // a lane's is its worker's to read and write
  Statistics& statistics;
  FunctionLog& log;
  Insight& insight;
  follow::Turns& turns;
  std::function<void()> drained;              // there is room for more events
  std::function<void(const Status&)> failed;  // it can't go on; called once, the thread has ended
  Trap* trap = nullptr;                       // takes events to be debugged
  std::shared_ptr<js::Inspector> inspector = nullptr;  // of the worker that debugs them
};

class Worker {
 public:
  explicit Worker(WorkerContext context);
  virtual ~Worker();  // Stop
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // False when there is no room: the event was not taken.
  bool Offer(Event& event);
  bool idle() const;
  // Ends the call that runs; what waits is dropped. Does not wait.
  void RequestStop();
  // The same, and waits.
  void Stop();
  // The event that the trap took was handled, or is given back to be handled here: what came after
  // it in its lane goes on.
  void Release(std::optional<Event> event);

 protected:
  enum class Start : uint8_t { kLater };
  Worker(WorkerContext context, Start);

  Status ProcessAlone(const Event& event);
  Status EnsureHandler();
  void Finish(std::span<const Event> events);
  bool stopping() const { return stop_->load(); }

  const WorkerContext context_;
  // Of the batch that runs.
  HeldLog log_;
  HeldInsight insight_;
  std::unique_ptr<Handler> handler_;
  UnderWay::Slot under_way_;
  Random random_;

  mutable std::mutex mutex_;
  // Set under mutex_.
  const script::StopFlag stop_ = std::make_shared<std::atomic<bool>>(false);
  Thread thread_;

 private:
  using Events = std::vector<Event>;

  void Loop();
  Events Take();
  void TakeFront(Events* events);
  // What became of a commit that is not an error of the worker's: OK, or why the events have to be
  // run again.
  struct Tried {
    size_t events = 0;
    Status refused;
    bool passing = false;  // the refusal has nothing to do with them
  };
  // Leaves those that are not done with.
  Status Process(std::span<const Event>* events);
  Status ProcessTogether(std::span<const Event> events, Tried* tried);
  Status Refused(std::span<const Event> events, const Tried& tried, bool alone);
  Status RunOne(Handler::Turn& turn, Effects& effects, const Event& event);
  Status RunChange(Handler::Turn& turn, Effects& effects, const Event& event);
  Status RunTimer(Handler::Turn& turn, Effects& effects, const Event& event);
  // Calls the handler. None when that went well; what a failed one did is undone.
  using Attempted = Result<std::optional<failure::Problem>>;
  Attempted Try(Handler::Turn& turn, Effects& effects, const Event& event);
  Attempted Try(Handler::Turn& turn, Effects& effects, const timer::Timer& timer);
  Attempted Ended(Effects& effects, const Effects::Savepoint& savepoint,
                  const script::Outcome& outcome);
  void Log(Effects::Counts& counts, std::string_view what, const failure::Problem& problem);

  // worker_failures.cc
  Status RunRetry(Handler::Turn& turn, Effects& effects, const Event& event);
  Attempted TryAgain(Handler::Turn& turn, Effects& effects, const failure::WriteSet::Taken& taken,
                     std::string* what);
  failure::Problem ProblemOf(const script::Outcome& outcome) const;
  Status Keep(Effects& effects, const std::string& key, FailedEvent event,
              failure::Problem problem);
  std::optional<uint64_t> NextTryMs(const failure::Problem& problem, uint32_t attempts);

  Status Commit(Effects& effects, std::span<const Event> events, Tried* tried);
  std::vector<db::CursorMove> CursorMoves(std::span<const Event> events) const;
  void Committed(const Effects::Counts& counts, const std::optional<uint64_t>& earliest_timer_ms);
  void FailuresCommitted(const failure::SizeChange& change,
                         const std::optional<uint64_t>& earliest_retry_ms);

  size_t most_at_once_;
  int attempts_ = 0;  // of the event that was refused alone
  // Why the commit of the event that runs was refused: its handler is not called again.
  std::optional<failure::Problem> refused_;

  std::condition_variable wake_;
  std::deque<Event> queue_;  // guarded by mutex_
  // The lane of the event that the trap took, and what came after it there.
  std::optional<uint16_t> held_lane_;  // guarded by mutex_
  std::deque<Event> aside_;            // guarded by mutex_
  size_t queued_bytes_ = 0;            // guarded by mutex_
  size_t queued_timers_ = 0;           // guarded by mutex_
  bool busy_ = false;                  // guarded by mutex_
};

}  // namespace sluice::function
