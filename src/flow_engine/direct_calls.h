// Calls of one function, without a flow.
//
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "flow_engine/app.h"
#include "flow_engine/run_clock.h"
#include "flow_engine/run_context.h"
#include "flow_engine/run_threads.h"
#include "flow_engine/run_timers.h"
#include "flow_engine/task_caller.h"

namespace sluice::flow_engine {

class DirectCalls {
 public:
  // All of it outlives this.
  DirectCalls(const RunClock& time, RunThreads& threads, RunTimers& timers, TaskCaller& tasks)
      : time_(time), threads_(threads), timers_(timers), tasks_(tasks) {}

  // As Engine::Call.
  void Call(std::shared_ptr<const App> app, const std::string& route, json::Value headers,
            json::Value body, uint64_t timeout_ms, ReplyTo reply, RunContext context);

 private:
  struct Request;

  void Run(const std::shared_ptr<Request>& request, Route::Slot& slot);

  const RunClock& time_;
  RunThreads& threads_;
  RunTimers& timers_;
  TaskCaller& tasks_;
};

}  // namespace sluice::flow_engine
