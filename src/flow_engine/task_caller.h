// Calls the functions of a run's tasks: finds a free instance of the route, runs the function, and
// makes an event of its answer. Calls that find no free instance wait in order, without a thread.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "flow_engine/live_run.h"
#include "flow_engine/route.h"
#include "flow_engine/run_clock.h"
#include "flow_engine/run_threads.h"
#include "flow_engine/run_timers.h"
#include "function/under_way.h"

namespace sluice::flow_engine {

class TaskCaller {
 public:
  // Takes answers of calls that had to wait; on a thread of the pool.
  using OnAnswer = std::function<void(const LiveRunPtr& run, RunEvent answer)>;

  // `under_way` marks calls of durable runs while they run; null: nothing does. All of it outlives
  // this.
  TaskCaller(const RunClock& time, RunThreads& threads, RunTimers& timers,
             function::UnderWay* under_way, OnAnswer on_answer)
      : time_(time),
        threads_(threads),
        timers_(timers),
        under_way_(under_way),
        on_answer_(std::move(on_answer)) {}

  // Runs the function on this thread. None: the answer comes later, or the run is gone.
  std::optional<RunEvent> Call(const LiveRunPtr& run, const flow::Call& call);
  // The answer of a call that is not made.
  RunEvent FailureOf(const LiveRunPtr& run, uint64_t call, int status, std::string message) const;
  // Nobody waits for the answer of this call, or of any call of the run.
  void Stop(LiveRun& run, uint64_t call);
  void StopAll(LiveRun& run);
  // From now on calls of durable runs are not made: the runs go on when the server starts.
  void StopDurable() { stopping_ = true; }

  // Gives an instance back, or to the call that waits for it.
  void Release(const std::shared_ptr<Route>& route, Route::Slot* slot);

 private:
  class WriteSink;

  std::optional<RunEvent> RunOn(const std::shared_ptr<Route>& route, Route::Slot& slot,
                                const flow::Call& call, const LiveRunPtr& run);
  struct Span {
    std::shared_ptr<const RunTrace> trace;  // the context's texts are in it
    TraceContext context;
  };
  // False: nobody wants the answer. `made`: the slot has an instance.
  bool Begin(LiveRun& run, const flow::Call& call, Route::Slot& slot, bool made, TaskInput* input,
             Span* span);
  // For a function that asked for a delay of its answer.
  void AnswerLater(const LiveRunPtr& run, RunEvent answer, uint64_t after_ms);

  const RunClock& time_;
  RunThreads& threads_;
  RunTimers& timers_;
  function::UnderWay* const under_way_;
  const OnAnswer on_answer_;
  std::atomic<bool> stopping_{false};
};

}  // namespace sluice::flow_engine
