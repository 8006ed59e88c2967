// A driver has one run. It takes the run's events, steps the machine (flow/run.h), and returns the
// commits to store and the actions to carry out:
//
//   (run, event) -> (commits, actions)
//
// It does neither itself, knows no thread and waits for nothing. The engine submits the commits in
// order, calls OnStored with the result of each, and carries out the actions. There are two
// drivers: MemoryDriver has nothing to store, DurableDriver stores each step.
//
// Thread: one that holds the run's mutex (live_run.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "flow/run.h"
#include "flow_engine/run_rows.h"

namespace sluice::flow_engine {

// A moment, on both clocks.
struct RunTime {
  uint64_t wall_ms = 0;       // RunClock: never goes back
  uint64_t monotonic_ns = 0;  // for traces
};

// A call of a durable run whose function has answered.
struct AnsweredCall {
  flow::Call call;
  uint64_t ran_us = 0;
  bool repeatable = false;  // calling the function again does no harm (TaskOutput)
  db::Commit writes = {};   // of the function, to be stored with the step

  bool has_writes() const { return !writes.writes.empty() || !writes.rows.empty(); }
};

// Something that happens to a run.
struct RunEvent {
  flow::Event event;
  // Of a TaskResult of a durable run; null when the function itself gave no answer.
  std::unique_ptr<AnsweredCall> answered = nullptr;
  // Nothing may follow from the step before it is stored.
  bool stored_first = false;
  uint64_t at_ns = 0;  // when it happened, on the monotonic clock; 0: now
};

// A commit of a run. Each commit replaces the run's version (run_rows.h): the database refuses it
// when another owner has stored a step of the run in between.
struct StoreRequest {
  uint64_t number = 0;  // for OnStored
  db::Commit commit;
  std::optional<std::string> version_before;  // none: the run is not stored yet
  std::optional<std::string> version_after;   // none: the run has ended
  // The only actions that follow are an answer and the end of a run that went well.
  bool only_answers = false;
};

// The result of a commit.
struct StoreResult {
  enum class Kind : uint8_t {
    kStored,
    kRefused,  // nothing of it is stored; `status` says why
    kLost,     // another owner goes on with the run
  };
  Kind kind = Kind::kStored;
  Status status = {};
};

// A function whose writes met a conflict.
struct CallAgain {
  flow::Call call;
  std::chrono::microseconds pause{0};  // before it is called again
};

// The consequences of an event.
struct Outcome {
  std::vector<StoreRequest> commits;  // to be submitted now, in this order
  flow::Actions actions;              // to be carried out now
  std::vector<CallAgain> call_again;
  bool lost = false;  // the run leaves this process: another owner goes on with it
};

// Hears of the steps that a run takes, for its trace.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // `ended_tasks`: how many tasks of a durable run the step has brought to their end.
  virtual void OnStep(const flow::Run& run, const flow::Actions& actions, size_t ended_tasks,
                      RunTime now) = 0;
};

// Writes the files that a step names. Called once for a step that is taken, and stored if the run
// is durable, before anything else follows from it.
class StepFiles {
 public:
  virtual ~StepFiles() = default;
  virtual void Write(const std::vector<StepFile>& files) = 0;
};

// Takes the files that a step is to write out of its actions.
std::vector<StepFile> TakeFiles(flow::Actions* actions);

class RunDriver {
 public:
  virtual ~RunDriver() = default;

  virtual Outcome OnEvent(RunEvent&& event, RunTime now) = 0;
  // The result of a commit. The results of several commits may come in any order.
  virtual Outcome OnStored(uint64_t number, StoreResult result, RunTime now) = 0;
  // The thread that ran the run's functions leaves it: steps that were held back are stored.
  virtual Outcome OnIdle(RunTime now) = 0;

  // When to come back with a Tick at the latest.
  virtual std::optional<uint64_t> due_ms() const = 0;
  // It takes no events any more.
  virtual bool gone() const = 0;
  // When the last step was.
  virtual uint64_t stepped_ms() const = 0;
  virtual const flow::Run& run() const = 0;
};

}  // namespace sluice::flow_engine
