// A step of a durable run that is made and not taken yet: the run after it, and the rows that store
// it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "flow/run.h"
#include "flow_engine/run_driver.h"
#include "flow_engine/run_rows.h"

namespace sluice::flow_engine {

// A durable run after the last step that it has taken.
struct DurableState {
  flow::Run run;
  RunHead head;
  RunMachine machine = {};                    // its text is empty before the first step
  json::Value input = {};                     // that has a row of its own; else missing
  std::map<uint64_t, uint64_t> sent_ms = {};  // of open calls, by call
};

struct PlannedStep {
  flow::Run run;
  flow::Actions actions;
  RunHead head;
  RunMachine machine;
  json::Value input;
  std::vector<RunStep> ended_tasks;
  std::vector<StepFile> files;
  RunTime now;
  bool awaited = true;   // somebody still waited for the answer
  bool changed = false;  // there is something to store
};

// Whether a call of a function or a sub-flow is open.
bool HasOpenCall(const flow::Run& run, uint64_t call);

// Steps a copy of the run. Everything that is due comes first, and may have ended the call whose
// answer the event is.
PlannedStep PlanStep(const DurableState& state, const RunEvent& event, RunTime now);

// The rows of the tasks that the step has brought to their end, each with the machine before it.
void AddTaskRows(const PlannedStep& step, const RunMachine& before,
                 std::vector<db::RowWrite>* rows);

}  // namespace sluice::flow_engine
