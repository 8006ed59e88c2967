// Runs flows: steps their machines, calls the functions that they ask for, keeps their time.
//
// A run is stepped on a thread of the pool; the first function that a step asks for is called on
// the same thread, the others (of a fork) on others. So a flow whose functions follow each other
// changes threads not once. Who starts one may have a thread for that (RunContext::run).
//
// A durable run's steps are commits: what a function wrote, the run after its answer and a record
// of the step are stored together (run_rows.h). What follows from one that has writes waits until
// it is stored. Others can't be refused, and commits are stored in order, so the next function is
// called at once; answers and what else others see wait in any case. Steps of functions that did
// nothing but answer are held back while the next one runs, for 50 ms at most, and stored together.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/thread.h"
#include "db/database.h"
#include "flow/run.h"
#include "flow_engine/app.h"
#include "flow_engine/crashed_calls.h"
#include "flow_engine/pool.h"
#include "flow_engine/run_clock.h"
#include "flow_engine/run_rows.h"
#include "flow_engine/stream.h"
#include "flow_engine/trace.h"
#include "function/under_way.h"

namespace sluice::flow_engine {

struct Reply {
  int status = 200;
  json::Value headers = json::Value::EmptyObject();
  json::Value body = {};
  std::string run = {};                                  // the id of a durable run
  std::shared_ptr<const StreamScope> streams = nullptr;  // those that headers may name
};
using ReplyTo = std::function<void(Reply reply)>;

// What comes with a request to run something.
struct RunContext {
  TraceLink trace = {};
  std::shared_ptr<StreamScope> streams = nullptr;  // null: it has none yet
  // Runs it on the thread of who asks, after this one's call; null: on a thread of the pool. A job
  // may be dropped only when nobody waits for its answer any more.
  std::function<void(Pool::Job job)> run = nullptr;
  // Has threads for what `run` does not run, or had to wait for its turn; null: the engine's.
  Pool* pool = nullptr;
  std::string cid = {};  // of a call: the correlation id of who asks
};

// What started a run, where others ask for it.
inline constexpr std::string_view kAutostartOrigin = "autostart";
inline constexpr std::string_view kListenerOrigin = "listener";

// In the log: something that the app starts when it is loaded has failed.
void LogAutostartFailure(std::string_view target, int status, std::string_view message);

struct EngineOptions {
  size_t max_runs = 10'000;  // in memory
  size_t max_threads = 256;
  // A durable run that waits for longer than that leaves the memory; 0: none does.
  uint64_t park_after_ms = 30'000;
  // Where calls of durable runs are marked while they run; null: nowhere.
  function::UnderWay* under_way = nullptr;
  size_t traces = 1000;  // kept of runs; 0: none are made
  // Is told of every trace when its run ends, and does not wait.
  std::function<void(const TracePtr& trace)> exporter = nullptr;
};

class Engine {
 private:
  struct Instance;
  using InstancePtr = std::shared_ptr<Instance>;

 public:
  Engine(db::Database& database, const Clock& clock, EngineOptions options);
  ~Engine();  // Stop
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Who started a run may say that its answer is not wanted any more.
  using Handle = std::weak_ptr<Instance>;

  // Answers once, from any thread: what the flow responds, or why it could not. `origin` tells what
  // started a durable run; such a run goes on when it has not answered within `answer_within_ms`
  // (0: as long as it takes), and the answer is 408.
  Handle Start(std::shared_ptr<const App> app, flow::Start start, ReplyTo reply,
               std::string_view origin = "rest", uint64_t answer_within_ms = 0,
               RunContext context = {});
  // Ends a run that is not durable: who waited for it has gone.
  void Abandon(const Handle& handle);
  // Calls one function, without a flow.
  void Call(std::shared_ptr<const App> app, const std::string& route, json::Value headers,
            json::Value body, uint64_t timeout_ms, ReplyTo reply, RunContext context = {});
  // Calls a route, or starts `flow://id` with the body as its dataset; nobody waits for the answer.
  void Tell(std::shared_ptr<const App> app, std::string_view target, json::Value headers,
            json::Value body, uint64_t timeout_ms, std::string_view origin, TraceLink trace,
            ReplyTo done);
  // Ends all runs, and their callers are told; durable ones stay as they are stored.
  void Stop();

  // --- durable runs ---
  // Stores the beginnings of runs of durable flows, together with `commit`, and then runs them.
  // Waits. The ids, in order. Errors flow.overloaded, those of commits.
  struct Launch {
    std::shared_ptr<const App> app;
    flow::Start start;
    std::string origin;
    TraceLink trace = {};
  };
  Result<std::vector<std::string>> LaunchAll(std::vector<Launch> launches, db::Commit commit);
  // Goes on with a run that is stored; calls that are given up have failed. Error flow.bad_state.
  Status Resume(std::shared_ptr<const App> app, const StoredRun& run,
                std::vector<GivenUpCall> given_up = {});
  // The time of runs: the wall clock, but for that it never goes back.
  uint64_t NowMs() const { return time_.NowMs(); }
  // Who keeps the time of runs that leave the memory; before any run.
  using Park = std::function<void(const std::string& id, uint64_t due_ms)>;
  void OnPark(Park park) { park_ = std::move(park); }
  bool full() const { return running_ >= options_.max_runs; }
  // Waits until it has ended. False when no such run is in memory.
  bool Cancel(const std::string& id);
  bool IsLive(const std::string& id) const;
  // Versions of apps that runs in memory have.
  std::set<std::string> LiveApps() const;

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
  size_t running_durable() const;
  const TraceStore& traces() const { return traces_; }

 private:
  class StepSink;
  struct Move;
  struct Pending;
  // What is known of a call that has been answered.
  struct Ran {
    uint64_t us = 0;
    bool repeatable = false;  // TaskOutput
  };

  // On the thread of who asked, or one of the pool.
  void Begin(const RunContext& context, Pool::Job job);
  void Drive(const InstancePtr& instance, flow::Event event, Ran ran);
  // Does what follows from a step, and from the functions that it calls.
  void Perform(const InstancePtr& instance, flow::Actions actions);
  // The first call is left to who asks for it; null: there is none.
  void Do(const InstancePtr& instance, flow::Actions actions,
          std::optional<flow::Call>* inline_call);
  void Respond(const InstancePtr& instance, flow::Respond respond);
  void RespondIfLate(const InstancePtr& instance);
  void StopCall(const InstancePtr& instance, uint64_t call);
  void Ended(const InstancePtr& instance, const flow::Ended& ended);

  // One step of a run that is not durable; under its mutex. False when it has ended before.
  bool Advance(Instance& instance, flow::Event event, uint64_t now_ns, flow::Actions* actions);
  // Of a durable run: stores the step after those that came before it, and then goes on. What is to
  // be called at once is returned.
  flow::Actions Submit(const InstancePtr& instance, Pending pending);
  flow::Actions NextStep(const InstancePtr& instance);
  static bool IsOver(const Instance& instance, const Pending& pending);
  void SubmitCommit(const InstancePtr& instance, Pending pending, Move move, db::Commit commit);
  void SubmitAhead(const InstancePtr& instance, flow::Actions later, db::Commit commit);
  static bool OnlyAnswers(const Instance& instance, const flow::Actions& actions);
  static bool MayHold(const Pending& pending, const Move& move);
  // Under the mutex: stores what is held, then what follows is done.
  void StoreHeld(const InstancePtr& instance, flow::Actions later);
  // The thread that runs it leaves it.
  void StopHolding(const InstancePtr& instance);
  void Stored(const InstancePtr& instance, Pending pending, Move move, const Status& status);
  void NotStored(const InstancePtr& instance, Pending pending, const Status& status);
  void StoreAgain(const InstancePtr& instance, flow::Actions later, const Status& status);
  InstancePtr NewInstance(std::shared_ptr<const App> app, flow::Start* start, ReplyTo reply,
                          std::string_view origin, TraceLink trace);
  // Under the instance's mutex.
  void BeginTrace(Instance& instance, std::string_view flow, std::string_view origin,
                  TraceLink link) const;
  void NoteStep(Instance& instance, const flow::Actions& actions, uint64_t now_ns);
  Move Plan(Instance& instance, const flow::Event& event, Ran ran);
  // Steps that become rows, with the machine before them.
  static void AddSteps(const Instance& instance, const Move& move, std::vector<db::RowWrite>* rows);
  // The run after them.
  static void AddRun(const Instance& instance, const RunHead& head, const RunMachine& machine,
                     db::Commit* commit);
  void Accept(Instance& instance, Move move, flow::Actions* actions);
  void AddLive(const InstancePtr& instance);
  bool CanPark(const Instance& instance);
  void MaybePark(const InstancePtr& instance);
  void Forget(const InstancePtr& instance);

  // What follows from the call's answer; none when it waits for a free instance of the route, or to
  // be stored.
  std::optional<flow::Actions> RunCall(const InstancePtr& instance, const flow::Call& call,
                                       int attempt = 1);
  std::optional<flow::Actions> RunOn(const std::shared_ptr<Route>& route, Route::Slot& slot,
                                     const flow::Call& call, const InstancePtr& instance,
                                     int attempt);
  std::optional<flow::Actions> Fail(const InstancePtr& instance, const flow::Call& call, int status,
                                    std::string message);
  // Of a function whose answer has to wait, without a thread.
  void AnswerLater(const InstancePtr& instance, flow::TaskResult result, Ran ran,
                   uint64_t after_ms);
  void Release(const std::shared_ptr<Route>& route, Route::Slot* slot);
  void Send(const InstancePtr& instance, const flow::Send& send);
  // The flow, if the app or the flow itself has listeners that are told of its runs' end.
  static const flow::Flow* ListenedFlow(const App& app, std::string_view flow,
                                        std::string_view origin);
  void TellListeners(const InstancePtr& instance, const flow::Ended& ended);
  static TraceLink LinkTo(const InstancePtr& instance);
  // Under the instance's mutex, so that the last step's time counts.
  void Schedule(Instance& instance, std::optional<uint64_t> due_ms);
  // Under timer_mutex_: whether the timers' thread has to be woken for something due at that time.
  bool MustWakeFor(uint64_t due_ms);
  void TimerLoop();
  // Runs something later, on the pool, unless it is dropped before.
  using LaterId = std::pair<uint64_t, uint64_t>;  // when, and a number
  void RunLater(LaterId id, std::function<void()> run);
  void Drop(LaterId id);

  db::Database& database_;
  RunClock time_;
  const EngineOptions options_;
  std::atomic<bool> stopping_{false};
  // Apart from each other: what every run changes would slow down those who read the rest.
  alignas(64) std::atomic<size_t> running_{0};
  std::atomic<size_t> lent_{0};     // jobs that others run, or have not dropped yet
  std::atomic<size_t> storing_{0};  // steps that were submitted to the database
  std::atomic<uint64_t> last_later_{0};
  Counts counts_;
  alignas(64) Park park_;
  TraceStore traces_;

  mutable std::mutex live_mutex_;
  std::map<std::string, InstancePtr, std::less<>> live_;  // durable ones; under live_mutex_

  Pool pool_;

  std::mutex timer_mutex_;
  std::condition_variable timer_wake_;
  std::set<std::pair<uint64_t, InstancePtr>> timers_;  // under timer_mutex_
  std::map<LaterId, std::function<void()>> later_;     // under timer_mutex_
  uint64_t timer_wakes_ms_ = 0;  // by itself, at the latest; under timer_mutex_
  Thread timer_thread_;
};

}  // namespace sluice::flow_engine
