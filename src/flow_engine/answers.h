// Tells others about runs: answers the caller that started a run, keeps and exports its trace, and
// calls the listeners at its end.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "flow_engine/live_run.h"
#include "flow_engine/run_clock.h"
#include "flow_engine/trace.h"

namespace sluice::flow_engine {

class Answers {
 public:
  using Exporter = std::function<void(const TracePtr& trace)>;
  // Calls a route or starts a flow; nobody waits for the answer (Engine::Tell).
  using Tell = std::function<void(const std::shared_ptr<const App>& app, std::string_view target,
                                  json::Value headers, json::Value body, TraceLink trace)>;

  // Keeps the last `traces`; the exporter, if there is one, gets each when its run ends.
  // `durable_steps` counts the tasks of durable runs that have ended.
  Answers(const RunClock& time, size_t traces, Exporter exporter,
          std::atomic<uint64_t>& durable_steps)
      : time_(time),
        traces_(traces),
        exporter_(std::move(exporter)),
        durable_steps_(durable_steps) {}

  const TraceStore& traces() const { return traces_; }

  // Before others see the run.
  void BeginTrace(LiveRun& run, std::string_view flow, TraceLink link) const REQUIRES(run.mutex);
  // At the run's end its trace is complete.
  void NoteStep(LiveRun& run, const flow::Run& machine, const flow::Actions& actions,
                size_t ended_tasks, RunTime now) REQUIRES(run.mutex);

  // Answers the caller that started the run, once. The answer has the id of a durable run.
  void Respond(LiveRun& run, flow::Respond respond) const;
  // Answers 408 if the caller's time is over.
  void RespondIfLate(LiveRun& run, uint64_t now_ms) const;
  // The link of calls and runs that this run starts.
  static TraceLink LinkTo(LiveRun& run);
  // The run must have listeners.
  static void TellListeners(LiveRun& run, const flow::Ended& ended, const Tell& tell);

 private:
  const RunClock& time_;
  TraceStore traces_;
  const Exporter exporter_;
  std::atomic<uint64_t>& durable_steps_;
};

}  // namespace sluice::flow_engine
