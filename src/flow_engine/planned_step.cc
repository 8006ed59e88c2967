#include "flow_engine/planned_step.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "flow/run_codec.h"

namespace sluice::flow_engine {
namespace {

const flow::PendingCall* FindOpenCall(const flow::Run& run, uint64_t id) {
  for (const flow::PendingCall& call : run.state().calls) {
    if (call.id == id) return &call;
  }
  return nullptr;
}

const flow::Flow& FlowOf(const flow::Run& run, const flow::PendingCall& call) {
  const auto& frames = run.state().frames;
  return *std::ranges::find(frames, call.frame, &flow::Frame::id)->flow;
}

// How a sub-flow ended, if it was one and did.
const flow::SubflowEnded* EndOf(const flow::Actions& actions, uint64_t call) {
  for (const flow::Action& action : actions) {
    const auto* const ended = std::get_if<flow::SubflowEnded>(&action);
    if (ended != nullptr && ended->call == call) return ended;
  }
  return nullptr;
}

// The input of a run that has begun now, if it is to be stored in a row of its own; else missing.
json::Value LargeInputOf(const flow::Run& run) {
  json::Value input = flow::RootInputOf(run);
  if (input.is_missing() || EncodeInput(input).size() <= kMostInputInMachine) return {};
  return input;
}

RunPhase PhaseAfter(const flow::RunState& state, const flow::Event& event) {
  if (std::holds_alternative<flow::Cancel>(event)) return RunPhase::kCancelled;
  return state.message.empty() ? RunPhase::kCompleted : RunPhase::kFailed;
}

// How a task ended whose call the step has closed.
void SetEnd(const PlannedStep& step, const flow::PendingCall& call, const RunEvent& event,
            RunStep* task) {
  const auto* const result = std::get_if<flow::TaskResult>(&event.event);
  if (result != nullptr && result->call == call.id && step.awaited) {
    task->end = result->status >= 400 ? StepEnd::kFailed : StepEnd::kDone;
    task->status = result->status;
    task->output_headers = result->headers;
    task->output = result->body;
    task->stack = result->stack;
    if (event.answered != nullptr) task->ran_us = event.answered->ran_us;
  } else if (const auto* child = EndOf(step.actions, call.id)) {
    task->end = child->status >= 400 ? StepEnd::kFailed : StepEnd::kDone;
    task->status = child->status;
    task->output_headers = child->headers;
    task->output = child->body;
  } else if (call.due_ms != 0 && call.due_ms <= step.now.wall_ms) {
    task->end = StepEnd::kTimedOut;
    task->status = 408;
  } else {
    task->end = StepEnd::kAbandoned;
  }
}

void AddEndedTasks(const DurableState& state, const RunEvent& event, PlannedStep* step) {
  for (const flow::PendingCall& call : state.run.state().calls) {
    if (HasOpenCall(step->run, call.id)) continue;
    const flow::Flow& flow = FlowOf(state.run, call);
    const flow::Task& task = flow.tasks[static_cast<size_t>(call.task)];
    RunStep ended;
    ended.number = step->machine.next_step++;
    ended.flow = flow.id;
    ended.task = task.name;
    ended.route = task.route;
    ended.headers = call.headers;
    ended.input = call.body;
    if (const auto sent = state.sent_ms.find(call.id); sent != state.sent_ms.end()) {
      ended.sent_ms = sent->second;
    }
    ended.ended_ms = step->now.wall_ms;
    SetEnd(*step, call, event, &ended);
    step->ended_tasks.push_back(std::move(ended));
  }
}

}  // namespace

bool HasOpenCall(const flow::Run& run, uint64_t call) { return FindOpenCall(run, call) != nullptr; }

PlannedStep PlanStep(const DurableState& state, const RunEvent& event, RunTime now) {
  PlannedStep step{.run = state.run,
                   .actions = {},
                   .head = state.head,
                   .machine = {},
                   .input = state.input,
                   .ended_tasks = {},
                   .files = {},
                   .now = now};
  const uint64_t now_ms = now.wall_ms;
  const std::optional<uint64_t> due_ms = state.run.next_due_ms();
  if (due_ms && *due_ms <= now_ms) step.run.Step(flow::Tick{}, now_ms, &step.actions);
  const auto* const result = std::get_if<flow::TaskResult>(&event.event);
  step.awaited = result == nullptr || HasOpenCall(step.run, result->call);
  if (step.awaited) step.run.Step(event.event, now_ms, &step.actions);
  step.files = TakeFiles(&step.actions);
  step.machine.at_ms = now_ms;
  step.machine.next_step = state.machine.next_step;
  if (state.machine.text.empty()) step.input = LargeInputOf(step.run);
  step.machine.text = flow::EncodeRun(
      step.run, step.input.is_missing() ? flow::RootInput::kWith : flow::RootInput::kWithout);
  step.changed = step.machine.text != state.machine.text || !step.files.empty();
  AddEndedTasks(state, event, &step);
  if (state.head.created_ms == 0) step.head.created_ms = now_ms;
  if (step.run.ended() && !state.run.ended()) {
    const flow::RunState& ended = step.run.state();
    step.head.phase = PhaseAfter(ended, event.event);
    step.head.ended_ms = now_ms;
    step.head.status = ended.status;
    step.head.message = ended.message;
    step.head.steps = step.machine.next_step - 1;
  }
  return step;
}

void AddTaskRows(const PlannedStep& step, const RunMachine& before,
                 std::vector<db::RowWrite>* rows) {
  const std::string& id = step.head.id;
  for (const RunStep& task : step.ended_tasks) {
    rows->push_back(RunRow(StepKey(id, task.number), EncodeStep(task, before)));
    if (task.number <= kMaxKeptSteps) continue;
    rows->push_back(RunRow(StepKey(id, task.number - kMaxKeptSteps), std::nullopt));
  }
}

}  // namespace sluice::flow_engine
