// A run in memory: its driver, and the data that TaskCaller, RunTimers and Answers keep for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
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

  // A function that runs for the run now.
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
  std::string cid;                       // the caller's correlation id
  std::string trace_id;                  // empty: functions are given none
  const flow::Flow* listened = nullptr;  // its flow, if listeners hear of its end
  std::string origin;
  db::ShardId shard = 0;                       // of a durable run
  std::shared_ptr<StreamScope> given_streams;  // by the caller; null: own_streams
  StreamScope own_streams;
  bool stays = false;  // in memory until it ends; set before others see the run

  Mutex mutex;
  std::unique_ptr<RunDriver> driver GUARDED_BY(mutex);
  // The same driver, of a durable run. The pointer is set before others see the run.
  DurableDriver* durable PT_GUARDED_BY(mutex) = nullptr;
  ReplyTo reply GUARDED_BY(mutex);  // null after the answer
  // When the caller of a durable run stops waiting; 0: never.
  uint64_t answer_by_ms GUARDED_BY(mutex) = 0;
  std::vector<RunningCall> running GUARDED_BY(mutex);
  std::shared_ptr<RunTrace> trace GUARDED_BY(mutex);  // its spans, too; null: there is none
  TracePtr finished GUARDED_BY(mutex);                // for listeners
  uint64_t timer_set_ms GUARDED_BY(mutex) = 0;        // what RunTimers was given last
  uint64_t timer_ms = 0;              // belongs to RunTimers: its place among the timers
  std::atomic<bool> counted = false;  // belongs to Engine: it counts as running

  bool is_durable() const { return durable != nullptr; }
  std::shared_ptr<StreamScope> streams() {
    return given_streams != nullptr
               ? given_streams
               : std::shared_ptr<StreamScope>(shared_from_this(), &own_streams);
  }

  // The driver calls these, so the mutex is held.
  void OnStep(const flow::Run& run, const flow::Actions& actions, size_t ended_tasks,
              RunTime now) override;
  void Write(const std::vector<StepFile>& files) override;
};
using LiveRunPtr = std::shared_ptr<LiveRun>;

}  // namespace sluice::flow_engine
