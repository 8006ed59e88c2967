// Reads the changes of a deployed function's source and gives them to its workers, by key: the
// same key always to the same worker, in order. Leaves out what the function wrote itself. Timers
// that are due come from the scheduler and go to the workers in the same way.
//
// A thread of its own, which sleeps until Wake. When a worker's queue is full it waits, so that a
// slow function holds no more in memory than its queues.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/thread.h"
#include "db/feed.h"
#include "follow/commit_wake.h"
#include "function/debug_worker.h"
#include "function/worker.h"

namespace sluice::function {

// The follower that a deployed function has. It also owns the function's timers.
std::string FollowerOf(const Definition& definition);
// The owner of the failures of a function, which outlive its deployment.
std::string FailuresOwnerOf(const std::string& location);

class Dispatcher {
 public:
  // `failed` is called once, on a thread that must not wait for this object, when the function
  // can't go on.
  struct Options {
    const Services& services;
    timer::Scheduler& timers;
    failure::FailureList& failures;
    std::shared_ptr<const Definition> definition;
    Prepared prepared;
    std::string follower;
    Statistics& statistics;
    FunctionLog& log;
    Insight& insight;
    std::function<void(const Status&)> failed;
  };
  static Result<std::unique_ptr<Dispatcher>> Start(Options options);
  ~Dispatcher();  // Stop
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Commits to these keyspaces wake it from now on, instead of those to the keyspaces it was given
  // before. Not while another thread calls this or Stop.
  void WakeFor(std::span<const db::KeyspaceId> keyspaces, follow::CommitWake& commits);
  // There may be something new, or room. Any thread; cheap.
  void Wake();
  // Ends the calls that run. Does not wait.
  void RequestStop();
  // Returns when no event of the function runs any more.
  void Stop();
  bool caught_up() const;  // everything committed so far was handled, and no timer runs

  // From now on events are debugged, one at a time. Ends the debugger before it. Any thread.
  void StartDebugger(std::shared_ptr<const js::Program> program,
                     std::shared_ptr<js::Inspector> inspector);
  void StopDebugger();

 private:
  explicit Dispatcher(Options options);
  WorkerContext ContextOfWorkers();
  Status LoadCursors();
  void Loop();
  Result<bool> Pump();  // true when there was something
  bool Deliver(Event event);
  bool OfferToWorker(Event event);
  Status StorePlaces();
  bool WorkersIdle() const;

  const Options options_;
  follow::CommitWake::Subscription subscription_;
  std::array<db::CursorState, kLanes> cursors_;  // each its worker's, and ours while that is idle
  // What was given to workers, per lane.
  std::array<db::CursorState, kLanes> given_;
  std::unique_ptr<db::Feed> feed_;
  Trap trap_;
  follow::Turns turns_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex debug_mutex_;
  std::unique_ptr<DebugWorker> debug_worker_;  // guarded by debug_mutex_
  uint64_t timers_added_ = 0;                  // to the scheduler
  uint64_t retries_added_ = 0;                 // to the scheduler
  std::chrono::steady_clock::time_point stored_at_;
  bool places_stored_ = false;  // idle lanes are where the feed is, also on disk

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = true;       // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
  bool caught_up_ = false;  // guarded by mutex_
  Thread thread_;
};

}  // namespace sluice::function
