// Runs flows. Each run has a driver (run_driver.h) that decides; the engine and its parts store and
// carry out what the driver has decided:
//
//   TaskCaller  calls the functions of tasks          RunTimers  keeps time
//   StepStore   hands commits to the database         Answers    answers callers, traces, listeners
//   FileWriter  writes the files that mappings name   LiveRuns   finds durable runs by id
//
// A run is stepped on a thread of the pool; the first function that a step asks for is called on
// the same thread, the others (of a fork) on others. So a flow whose functions follow each other
// never changes threads, unless a step of a durable run must be stored first. The caller that
// starts one may have a thread for that (RunContext::run).
//
// Concurrency: any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "db/database.h"
#include "flow/run.h"
#include "flow_engine/answers.h"
#include "flow_engine/app.h"
#include "flow_engine/crashed_calls.h"
#include "flow_engine/direct_calls.h"
#include "flow_engine/file_writer.h"
#include "flow_engine/live_runs.h"
#include "flow_engine/run_clock.h"
#include "flow_engine/run_context.h"
#include "flow_engine/run_rows.h"
#include "flow_engine/run_threads.h"
#include "flow_engine/run_timers.h"
#include "flow_engine/step_store.h"
#include "flow_engine/task_caller.h"
#include "flow_engine/trace.h"
#include "function/under_way.h"

namespace sluice::flow_engine {

// Origins of runs that code compares (RunHead::origin).
inline constexpr std::string_view kAutostartOrigin = "autostart";
inline constexpr std::string_view kListenerOrigin = "listener";

// Logs that an autostart of the app has failed.
void LogAutostartFailure(std::string_view target, int status, std::string_view message);

struct EngineOptions {
  size_t max_runs = 10'000;  // in memory
  size_t max_threads = 256;
  // A durable run that waits for longer than that leaves the memory; 0: none does.
  uint64_t park_after_ms = 30'000;
  // Where calls of durable runs are marked while they run; null: nowhere.
  function::UnderWay* under_way = nullptr;
  size_t traces = 1000;  // kept of runs; 0: none are made
  // Gets every trace when its run ends, and does not wait.
  std::function<void(const TracePtr& trace)> exporter = nullptr;
};

class Engine {
 public:
  Engine(db::Database& database, const Clock& clock, EngineOptions options);
  ~Engine();  // Stop
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // For Abandon.
  using Handle = std::weak_ptr<LiveRun>;

  // Starts a run. `reply` is called once, from any thread, with the flow's response or an error. A
  // durable run keeps `origin`. When it has not answered within `answer_within_ms` (0: no limit),
  // the answer is 408 and the run goes on.
  Handle Start(std::shared_ptr<const App> app, flow::Start start, ReplyTo reply,
               std::string_view origin = "rest", uint64_t answer_within_ms = 0,
               RunContext context = {});
  // Ends a run that is not durable: the caller that waited for it has gone.
  void Abandon(const Handle& handle);
  // Calls one function, without a flow.
  void Call(std::shared_ptr<const App> app, const std::string& route, json::Value headers,
            json::Value body, uint64_t timeout_ms, ReplyTo reply, RunContext context = {});
  // Calls a route, or starts `flow://id` with the body as its dataset. `done` gets the answer; no
  // thread waits for it.
  void Tell(std::shared_ptr<const App> app, std::string_view target, json::Value headers,
            json::Value body, uint64_t timeout_ms, std::string_view origin, TraceLink trace,
            ReplyTo done);
  // Ends all runs and answers their callers; durable ones stay as they are stored.
  void Stop();

  // --- durable runs ---
  // Runs of the shard may be in memory from now on. Before, none is started there.
  void OpenShard(db::ShardId shard) { live_.Open(shard); }
  // The runs of the shard leave the memory as they are stored, and their callers hear that. None
  // comes back before OpenShard. Functions that still run are stopped; nobody takes their answers.
  void CloseShard(db::ShardId shard);
  std::set<db::ShardId> shards() const { return live_.shards(); }  // the open ones
  // Stores the beginnings of runs of durable flows together with `commit`, waits for that, and runs
  // them. Runs without an id get one of the commit's shard; ids that are given are of it. Returns
  // the ids, in order. Errors flow.overloaded, those of commits.
  struct Launch {
    std::shared_ptr<const App> app;
    flow::Start start;
    std::string origin;
    TraceLink trace = {};
  };
  Result<std::vector<std::string>> LaunchAll(std::vector<Launch> launches, db::Commit commit);
  // Goes on with a stored run; the calls in `given_up` have failed. Does nothing if the run is in
  // memory, or its shard is not open. kStays: the caller cancels it next, so it does not leave the
  // memory before that. Error flow.bad_state.
  enum class Memory : uint8_t { kMayLeave, kStays };
  Status Resume(std::shared_ptr<const App> app, StoredRun stored,
                std::vector<GivenUpCall> given_up = {}, Memory memory = Memory::kMayLeave);
  // Writes files of a step that was stored before a crash.
  void WriteFilesAgain(const App& app, const std::string& id, std::vector<StepFile> files) {
    files_.WriteOnce(app, id, std::move(files));
  }
  // The time of runs: the wall clock, except that it never goes back.
  uint64_t NowMs() const { return time_.NowMs(); }
  // Keeps the time of runs that leave the memory; set before any run.
  using Park = std::function<void(const std::string& id, uint64_t due_ms)>;
  void OnPark(Park park) { park_ = std::move(park); }
  bool full() const { return running_ >= options_.max_runs; }
  // Waits until it has ended. False: no such run is in memory, or it has left before it ended.
  bool Cancel(const std::string& id);
  // A version (run_rows.h) for a run that nobody has in memory and that Resume will continue.
  std::string NewVersion() { return EncodeVersion(NewWriter(), 0); }
  // Waits until no such run is in memory.
  void WaitUntilGone(const std::string& id) { live_.WaitUntilGone(id); }

  struct Counts {
    std::atomic<uint64_t> started{0};
    std::atomic<uint64_t> completed{0};
    std::atomic<uint64_t> failed{0};
    std::atomic<uint64_t> cancelled{0};
    std::atomic<uint64_t> durable_started{0};
    std::atomic<uint64_t> durable_resumed{0};
    std::atomic<uint64_t> durable_steps{0};
  };
  const Counts& counts() const { return counts_; }
  const EngineOptions& options() const { return options_; }
  size_t running() const { return running_.load(); }
  size_t running_durable() const { return live_.size(); }
  const TraceStore& traces() const { return answers_.traces(); }

 private:
  // A new id of a durable run is one of these shards, which are not empty.
  LiveRunPtr NewRun(std::shared_ptr<const App> app, flow::Start* start, ReplyTo reply,
                    std::string_view origin, TraceLink trace, const std::set<db::ShardId>& shards);
  RunTime TimeAt(uint64_t monotonic_ns) const {
    return {.wall_ms = time_.MsAt(monotonic_ns), .monotonic_ns = monotonic_ns};
  }
  RunTime Now() const { return TimeAt(time_.MonotonicNs()); }
  void Count(LiveRun& run) {
    run.counted = true;
    ++running_;
  }
  void Uncount(LiveRun& run) {
    if (run.counted.exchange(false)) --running_;
  }
  uint64_t NewWriter() { return first_writer_ + ++last_writer_; }

  // Gives the event to the driver, and carries out all that follows from it.
  void Happened(const LiveRunPtr& run, RunEvent&& event);
  // Asks the driver under the run's mutex, submits its commits and sets the run's timer.
  template <typename Ask>
  Outcome AskDriver(const LiveRunPtr& run, RunTime now, Ask ask);
  Outcome TellDriver(const LiveRunPtr& run, RunEvent&& event);
  void CarryOut(const LiveRunPtr& run, Outcome outcome);
  // The first call is left to this thread, the others are made on the pool.
  std::optional<flow::Call> CarryOutActions(const LiveRunPtr& run, flow::Actions actions);
  void CallOnPool(const LiveRunPtr& run, flow::Call call, std::chrono::microseconds pause);
  // The thread that ran the run's functions leaves it.
  void BecameIdle(const LiveRunPtr& run);
  void Ended(const LiveRunPtr& run, const flow::Ended& ended);
  void Send(LiveRun& run, const flow::Send& send);
  void ParkIfPossible(const LiveRunPtr& run);
  // Another owner goes on with the run.
  void LeaveToOther(const LiveRunPtr& run);

  db::Database& database_;
  RunClock time_;
  const EngineOptions options_;
  const uint64_t first_writer_;  // random
  std::atomic<uint64_t> last_writer_{0};
  std::atomic<bool> stopping_{false};
  // On cache lines of their own: every run changes them, and all threads read the fields around.
  alignas(64) std::atomic<size_t> running_{0};
  Counts counts_;
  alignas(64) Park park_;

  Answers answers_;
  FileWriter files_;
  LiveRuns live_;
  RunThreads threads_;
  RunTimers timers_;
  StepStore store_;
  TaskCaller tasks_;
  DirectCalls calls_;
};

template <typename Ask>
Outcome Engine::AskDriver(const LiveRunPtr& run, RunTime now, Ask ask) {
  const MutexLock lock(run->mutex);
  Outcome outcome = ask(*run->driver, now);
  for (StoreRequest& request : outcome.commits) store_.Submit(run, std::move(request));
  std::optional<uint64_t> due_ms = run->driver->due_ms();
  if (run->answer_by_ms != 0) due_ms = std::min(run->answer_by_ms, due_ms.value_or(UINT64_MAX));
  timers_.Set(*run, due_ms);
  return outcome;
}

}  // namespace sluice::flow_engine
