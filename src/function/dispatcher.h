// Runs a deployed function: follows its source (follow/parallel_follower.h) with handlers that run
// side by side. It leaves out the changes that the function made itself. The scheduler adds due
// timers and retries of failed events, which go to the same workers.
//
// Concurrency: any thread, except as noted below.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "follow/parallel_follower.h"
#include "function/debug_worker.h"
#include "function/function_processor.h"

namespace sluice::function {

// The name of a deployed function's follower, which is also the owner of its timers.
std::string FollowerOf(const Definition& definition);
// The owner of a function's failures, which outlive its deployment.
std::string FailuresOwnerOf(const std::string& location);

class Dispatcher {
 public:
  // `failed` is called when the function can't go on, on a thread that must not wait for this
  // object.
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
    db::ShardId shard = 0;  // the shard that it follows
  };
  static Result<std::unique_ptr<Dispatcher>> Start(Options options);
  ~Dispatcher();  // Stop
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // From now on commits to these keyspaces wake it, and to no others. Not while another thread
  // calls this or Stop.
  void WakeFor(std::span<const db::KeyspaceId> keyspaces, follow::CommitWake& commits) {
    follower_->WakeFor(keyspaces, commits);
  }
  // Ends the running calls. Does not wait.
  void RequestStop();
  // Returns when no event of the function runs any more.
  void Stop();
  // Everything committed so far was handled, and no timer runs.
  bool caught_up() const { return follower_->caught_up(); }

  // From now on events are debugged, one at a time. An earlier debugger ends first. Any thread.
  void StartDebugger(std::shared_ptr<const js::Program> program,
                     std::shared_ptr<js::Inspector> inspector);
  void StopDebugger();

 private:
  explicit Dispatcher(Options options);
  ProcessorContext ContextOfProcessors() const;
  Status StartFollower();
  void AddTimers();
  follow::EventPtr EventFrom(const db::Change& change, const db::CursorState& after);

  const Options options_;
  follow::DatabaseSink sink_;
  Trap trap_;
  std::vector<std::unique_ptr<FunctionProcessor>> processors_;
  std::unique_ptr<follow::ParallelFollower> follower_;
  Mutex debug_mutex_;  // held until a debugger has ended
  std::unique_ptr<DebugWorker> debug_worker_ GUARDED_BY(debug_mutex_);
  bool stopping_ GUARDED_BY(debug_mutex_) = false;
  uint64_t timers_added_ = 0;   // to the scheduler
  uint64_t retries_added_ = 0;  // to the scheduler
};

}  // namespace sluice::function
