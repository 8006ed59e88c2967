// A run in memory: its driver, and what those who call its tasks, keep its time and answer for it
// know of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "flow_engine/app.h"
#include "flow_engine/run_context.h"
#include "flow_engine/run_driver.h"
#include "flow_engine/trace.h"

namespace sluice::flow_engine {

class Answers;
class DurableDriver;
class FileWriter;

struct LiveRun final : StepObserver, StepFiles, std::enable_shared_from_this<LiveRun> {
  LiveRun(std::shared_ptr<const App> of, std::string run_id, ReplyTo to, Answers& its_answers,
          FileWriter& its_files)
      : app(std::move(of)),
        id(std::move(run_id)),
        answers(its_answers),
        file_writer(its_files),
        reply(std::move(to)) {}

  // A function that runs for it.
  struct RunningCall {
    uint64_t call = 0;
    TaskInstance* task = nullptr;
    std::shared_ptr<std::atomic<bool>> cancelled;
  };

  const std::shared_ptr<const App> app;
  const std::string id;
  Answers& answers;
  FileWriter& file_writer;

  // Set before others see it.
  std::string cid;                       // of who asked
  std::string trace_id;                  // empty: functions are given none
  const flow::Flow* listened = nullptr;  // its flow, if listeners hear of its end
  std::string origin;
  DurableDriver* durable = nullptr;            // the driver, of a durable run
  std::shared_ptr<StreamScope> given_streams;  // by who started it; null: own_streams
  StreamScope own_streams;

  std::mutex mutex;
  std::unique_ptr<RunDriver> driver;  // under mutex
  ReplyTo reply;                      // taken by who answers; under mutex
  uint64_t answer_by_ms = 0;          // the caller of a durable run waits so long; under mutex
  std::vector<RunningCall> running;   // under mutex
  std::shared_ptr<RunTrace> trace;    // null: there is none; its spans are under mutex
  TracePtr finished;                  // for listeners; under mutex
  uint64_t timer_set_ms = 0;          // what RunTimers was given last; under mutex
  uint64_t timer_ms = 0;              // its place among the timers; under RunTimers' mutex

  bool is_durable() const { return durable != nullptr; }
  std::shared_ptr<StreamScope> streams() {
    return given_streams != nullptr
               ? given_streams
               : std::shared_ptr<StreamScope>(shared_from_this(), &own_streams);
  }

  // Under mutex.
  void OnStep(const flow::Run& run, const flow::Actions& actions, size_t ended_tasks,
              RunTime now) override;
  void Write(const std::vector<StepFile>& files) override;
};
using LiveRunPtr = std::shared_ptr<LiveRun>;

}  // namespace sluice::flow_engine
