// A deployed function while it runs: a follower of its source whose events run side by side
// (follow/parallel_follower.h), with the function's handlers. It leaves out what the function wrote
// itself. Timers that are due, and failures that are to be tried again, come from the scheduler and
// go to the workers in the same way.
//
// Concurrency: any thread, except as said below.
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

// The follower that a deployed function has. It also owns the function's timers.
std::string FollowerOf(const Definition& definition);
// The owner of the failures of a function, which outlive its deployment.
std::string FailuresOwnerOf(const std::string& location);

class Dispatcher {
 public:
  // `failed` is called on a thread that must not wait for this object, when the function can't go
  // on.
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
    db::ShardId shard = 0;  // that it follows
  };
  static Result<std::unique_ptr<Dispatcher>> Start(Options options);
  ~Dispatcher();  // Stop
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Commits to these keyspaces wake it from now on, instead of those to the keyspaces it was given
  // before. Not while another thread calls this or Stop.
  void WakeFor(std::span<const db::KeyspaceId> keyspaces, follow::CommitWake& commits) {
    follower_->WakeFor(keyspaces, commits);
  }
  // Ends the calls that run. Does not wait.
  void RequestStop();
  // Returns when no event of the function runs any more.
  void Stop();
  // Everything committed so far was handled, and no timer runs.
  bool caught_up() const { return follower_->caught_up(); }

  // From now on events are debugged, one at a time. Ends the debugger before it. Any thread.
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
