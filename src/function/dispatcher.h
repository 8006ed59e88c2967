// Runs a deployed function: follows its source (follow/parallel_follower.h) with handlers that run
// side by side, in the shards that it is told. It leaves out the changes that the function made
// itself. The scheduler adds due timers and retries of failed events, which go to the same workers.
//
// Concurrency: any thread, except as noted below.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/locked.h"
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
  // `failed` is called when the function can't go on in a shard, on a thread that must not wait for
  // this object.
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
    std::function<void(db::ShardId shard, const Status& status)> failed;
  };
  // It runs in no shard yet.
  explicit Dispatcher(Options options);
  ~Dispatcher();  // Stop
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Runs in the shard, too, from the follower's cursors on. Follow, Leave and Stop: one thread at a
  // time.
  Status Follow(db::ShardId shard);
  // Ends the calls that run in the shard; their events run again at the next Follow. Does not wait.
  void RequestLeave(db::ShardId shard);
  // The same, and returns when nothing of the function runs in the shard. A debugger that has an
  // event of the shard ends. A shard that is not followed is left alone.
  void Leave(db::ShardId shard);

  // From now on commits to these keyspaces wake it, and to no others. Not while another thread
  // calls this or Stop.
  void WakeFor(std::span<const db::KeyspaceId> keyspaces, follow::CommitWake& commits) {
    follower_->WakeFor(keyspaces, commits);
  }
  // Ends the running calls. Does not wait.
  void RequestStop();
  // Returns when no event of the function runs any more.
  void Stop();
  // Why it can't go on in a shard; empty if it goes on in all.
  std::string failure() const;
  // It can't go on in the shard, until it has left it and follows it again.
  void Failed(db::ShardId shard, const Status& status);
  // Everything committed so far in its shards was handled, and no timer runs.
  bool caught_up() const { return follower_->caught_up(); }

  // From now on events are debugged, one at a time. An earlier debugger ends first. Any thread.
  void StartDebugger(std::shared_ptr<const js::Program> program,
                     std::shared_ptr<js::Inspector> inspector);
  void StopDebugger();

 private:
  // What the scheduler gave for the shard.
  struct Added {
    uint64_t timers = 0;
    uint64_t retries = 0;
  };

  ProcessorContext ContextOfProcessors() const;
  std::unique_ptr<follow::ParallelFollower> MakeFollower();
  Added AddTimers(db::ShardId shard);
  void RemoveTimers(db::ShardId shard, const Added& added);
  follow::EventPtr EventFrom(const db::Change& change, const db::CursorState& after);

  const Options options_;
  follow::DatabaseSink sink_;
  Trap trap_;
  Locked<std::map<db::ShardId, std::string>> failures_;
  std::vector<std::unique_ptr<FunctionProcessor>> processors_;
  const std::unique_ptr<follow::ParallelFollower> follower_;
  std::map<db::ShardId, Added> followed_;
  Mutex debug_mutex_;  // held until a debugger has ended
  std::unique_ptr<DebugWorker> debug_worker_ GUARDED_BY(debug_mutex_);
  bool stopping_ GUARDED_BY(debug_mutex_) = false;
};

}  // namespace sluice::function
