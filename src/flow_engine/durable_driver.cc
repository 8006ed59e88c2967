// How a durable run takes events.
#include "flow_engine/durable_driver.h"

#include <algorithm>
#include <utility>

namespace sluice::flow_engine {
DurableDriver::DurableDriver(flow::Run run, RunHead head, DurableOptions options,
                             StepObserver& observer, StepFiles& files)
    : options_(options),
      observer_(observer),
      files_(files),
      at_{.run = std::move(run), .head = std::move(head)},
      may_be_begun_(!options.new_id) {}

DurableDriver::DurableDriver(flow::Run run, StoredRun stored, DurableOptions options,
                             StepObserver& observer, StepFiles& files)
    : options_(options),
      observer_(observer),
      files_(files),
      at_{.run = std::move(run),
          .head = std::move(stored.head),
          .machine = std::move(stored.machine),
          .input = std::move(stored.input)},
      version_(stored.version),
      stored_version_(std::move(stored.version)),
      may_be_begun_(true) {}

Outcome DurableDriver::Resume(const std::set<uint64_t>& given_up, RunTime now) {
  open_calls_ = at_.run.OpenCalls();
  for (const flow::Call& call : open_calls_) at_.sent_ms[call.call] = now.wall_ms;
  std::erase_if(open_calls_, [&](const flow::Call& call) { return given_up.contains(call.call); });
  return OnEvent({.event = flow::Tick{}}, now);
}

Outcome DurableDriver::OnEvent(RunEvent&& event, RunTime now) {
  Outcome outcome;
  now.wall_ms = std::max(now.wall_ms, stepped_ms_);  // another thread may have been faster
  const bool tick = std::holds_alternative<flow::Tick>(event.event);
  switch (state_) {
    case State::kTaking:
    case State::kHolding:
      waiting_.push_back(std::move(event));
      TakeEvents(now, &outcome);
      break;
    case State::kStoring:
    case State::kRepairing:
      // The next step handles due times in any case, so a tick need not wait.
      if (!tick) waiting_.push_back(std::move(event));
      if (state_ == State::kRepairing && in_flight_.empty() && now.wall_ms >= repair_at_ms_) {
        Repair(now, &outcome);
      }
      break;
    case State::kGone:
      break;
  }
  return outcome;
}

Outcome DurableDriver::OnIdle(RunTime /*now*/) {
  Outcome outcome;
  if (state_ == State::kHolding) StoreTaken({}, &outcome);
  return outcome;
}

std::optional<uint64_t> DurableDriver::due_ms() const {
  switch (state_) {
    case State::kTaking:
      return at_.run.ended() ? std::nullopt : at_.run.next_due_ms();
    case State::kHolding:
      return std::min(hold_until_ms_, at_.run.next_due_ms().value_or(UINT64_MAX));
    case State::kRepairing:
      return in_flight_.empty() ? std::optional(repair_at_ms_) : std::nullopt;
    case State::kStoring:
    case State::kGone:
      return std::nullopt;
  }
  return std::nullopt;
}

bool DurableDriver::CanPark(uint64_t after_ms) const {
  if (state_ != State::kTaking || !in_flight_.empty() || at_.run.ended()) return false;
  const auto waits = [](const flow::PendingCall& call) {
    return call.child != 0 || call.send_ms != 0;
  };
  if (!std::ranges::all_of(at_.run.state().calls, waits)) return false;
  const std::optional<uint64_t> due_ms = at_.run.next_due_ms();
  return due_ms && *due_ms > after_ms;
}

void DurableDriver::TakeEvents(RunTime now, Outcome* outcome) {
  bool holds = false;
  while (!waiting_.empty()) {
    RunEvent event = std::move(waiting_.front());
    waiting_.pop_front();
    if (IsLate(event)) continue;
    PlannedStep step = PlanStep(at_, event, now);
    if (step.changed && MustBeStoredFirst(event, step)) {
      if (state_ == State::kHolding) StoreTaken({}, outcome);
      return StoreFirst(std::move(event), std::move(step), outcome);
    }
    const bool changed = step.changed;
    holds = changed && OnlyAnswers(event, step);
    if (changed) AddTaskRows(step, at_.machine, &held_rows_);
    if (holds && state_ != State::kHolding) {
      state_ = State::kHolding;
      hold_until_ms_ = now.wall_ms + kHoldMs;
    }
    flow::Actions actions;
    TakeStep(std::move(step), now, &actions);
    flow::Actions then;
    for (flow::Action& action : actions) {
      const bool at_once = !changed || std::holds_alternative<flow::Call>(action);
      (at_once ? outcome->actions : then).push_back(std::move(action));
    }
    if (changed && !holds) StoreTaken(std::move(then), outcome);
  }
  if (state_ == State::kHolding && !holds) StoreTaken({}, outcome);
}

// Nobody waits for this answer. The function's writes are not stored either.
bool DurableDriver::IsLate(const RunEvent& event) const {
  if (at_.run.ended()) return true;
  const auto* const result = std::get_if<flow::TaskResult>(&event.event);
  return result != nullptr && !HasOpenCall(at_.run, result->call);
}

bool DurableDriver::MustBeStoredFirst(const RunEvent& event, const PlannedStep& step) const {
  const bool has_writes = step.awaited && event.answered != nullptr && event.answered->has_writes();
  return has_writes || !step.files.empty() || event.stored_first;
}

// Nothing has happened but that a function is to be called, and the last one can be called again.
bool DurableDriver::OnlyAnswers(const RunEvent& event, const PlannedStep& step) {
  const bool repeatable = std::holds_alternative<flow::Start>(event.event) ||
                          (event.answered != nullptr && event.answered->repeatable);
  return repeatable && step.actions.size() == 1 &&
         std::holds_alternative<flow::Call>(step.actions.front());
}

void DurableDriver::TakeStep(PlannedStep step, RunTime now, flow::Actions* actions) {
  for (const flow::PendingCall& call : at_.run.state().calls) {
    if (HasOpenCall(step.run, call.id)) continue;
    at_.sent_ms.erase(call.id);
    attempts_.erase(call.id);
  }
  at_.run = std::move(step.run);
  at_.head = std::move(step.head);
  at_.machine = std::move(step.machine);
  at_.input = std::move(step.input);
  stepped_ms_ = step.now.wall_ms;
  for (const flow::Action& action : step.actions) {
    if (const auto* call = std::get_if<flow::Call>(&action)) {
      at_.sent_ms[call->call] = stepped_ms_;
    } else if (const auto* child = std::get_if<flow::SubflowBegan>(&action)) {
      at_.sent_ms[child->call] = stepped_ms_;
    }
  }
  observer_.OnStep(at_.run, step.actions, step.ended_tasks.size(), now);
  if (actions->empty()) {
    *actions = std::move(step.actions);
  } else {
    for (flow::Action& action : step.actions) actions->push_back(std::move(action));
  }
  for (flow::Call& call : std::exchange(open_calls_, {})) {
    if (HasOpenCall(at_.run, call.call)) actions->emplace_back(std::move(call));
  }
}

}  // namespace sluice::flow_engine
