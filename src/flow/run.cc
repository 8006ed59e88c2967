#include "flow/run.h"

#include <algorithm>
#include <utility>

#include "flow/stepper.h"

namespace sluice::flow {

Run::Run(std::shared_ptr<const FlowSet> flows, const Files* files)
    : flows_(std::move(flows)), files_(files) {}

void Run::Step(Event event, uint64_t now_ms, Actions* actions) {
  if (state_.ended) return;
  Stepper stepper(this, now_ms, actions);
  stepper.FireDue();
  std::visit([&](auto& each) { stepper.On(std::move(each)); }, event);
  stepper.Finish();
}

std::optional<uint64_t> Run::next_due_ms() const {
  std::optional<uint64_t> least;
  const auto consider = [&](uint64_t due_ms) {
    if (due_ms != 0 && (!least || due_ms < *least)) least = due_ms;
  };
  for (const Frame& frame : state_.frames) consider(frame.due_ms);
  for (const PendingCall& call : state_.calls) {
    consider(call.send_ms);
    consider(call.due_ms);
  }
  return least;
}

std::vector<Call> Run::OpenCalls() const {
  std::vector<Call> open;
  for (const PendingCall& call : state_.calls) {
    if (call.child != 0 || call.send_ms != 0) continue;
    for (const Frame& frame : state_.frames) {
      if (frame.id != call.frame) continue;
      const Task& task = frame.flow->tasks[static_cast<size_t>(call.task)];
      const uint64_t due_ms = call.due_ms == 0 ? frame.due_ms : std::min(call.due_ms, frame.due_ms);
      open.push_back({call.id, frame.flow->id, task.name, task.route, call.headers, call.body,
                      due_ms, frame.id});
    }
  }
  return open;
}

void Run::Postpone(int64_t by_ms) {
  const auto move = [&](uint64_t* time_ms) {
    if (*time_ms == 0) return;
    // 0 would be no time at all.
    *time_ms = static_cast<uint64_t>(std::max<int64_t>(static_cast<int64_t>(*time_ms) + by_ms, 1));
  };
  for (Frame& frame : state_.frames) move(&frame.due_ms);
  for (PendingCall& call : state_.calls) {
    move(&call.send_ms);
    move(&call.due_ms);
  }
}

const json::Value& Run::model() const {
  for (const Frame& frame : state_.frames) {
    if (frame.id == state_.root) return frame.model;
  }
  return last_model_;
}

}  // namespace sluice::flow
