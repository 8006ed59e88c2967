// Frames and tasks: how they start and end. transition.cc has the rest: what follows a result.
//
// The state is three lists: frames (flow instances), calls (tasks that have not ended) and groups
// (forks and pipelines that have not ended). Run::Step makes a Stepper for one event and runs
//
//   FireDue    everything whose time has come, in order of time
//   On(event)  the event itself; a result of a call that FireDue just removed is ignored
//   Finish     removes frames without calls, and ends the run when no frame is left
//
// A call has one of three states:
//
//   send_ms != 0          waits for its delay; FireDue sends it
//   send_ms == child == 0 was sent to the driver, which answers with a TaskResult
//   child != 0            is a sub-flow; the frame `child` answers it, never the driver
//
// Invariants between two steps:
// 1. Every call belongs to a frame in `frames`, every group too.
// 2. A frame has at least one call: Finish removes or aborts every other one. So a run never waits
//    for nothing.
// 3. A frame that is `over` has no groups, and its calls have no children. It exists only for its
//    last tasks.
// 4. `caller` of a frame and `child` of a call refer to each other, or are 0.
// 5. Ids are never used twice in a run, so an answer can't reach another call than its own.
//
// Every way into user-controlled recursion has a bound (run.h): kMaxChain tasks that start each
// other within one step, kMaxFlowDepth, kMaxFrames, kMaxCalls.
#include "flow/stepper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "flow/files_of_step.h"
#include "flow/plan.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

template <typename T>
T* FindById(std::vector<T>* all, uint64_t id) {
  for (T& each : *all) {
    if (each.id == id) return &each;
  }
  return nullptr;
}

template <typename T, typename Predicate>
void EraseIf(std::vector<T>* all, Predicate predicate) {
  all->erase(std::remove_if(all->begin(), all->end(), predicate), all->end());
}

}  // namespace

json::Value ErrorBody(int status, const json::Value& message) {
  return json::Value::Object({{"type", "error"}, {"status", status}, {"message", message}});
}

Frame* Stepper::FindFrame(uint64_t id) { return FindById(&state_.frames, id); }
Group* Stepper::FindGroup(uint64_t id) { return FindById(&state_.groups, id); }
PendingCall* Stepper::FindCall(uint64_t id) { return FindById(&state_.calls, id); }

// Removes a call by moving the last one into its place: the order of calls means nothing. `call`
// and other pointers into the list are then invalid.
PendingCall Stepper::TakeCall(PendingCall* call) {
  PendingCall taken = std::move(*call);
  if (call != &state_.calls.back()) *call = std::move(state_.calls.back());
  state_.calls.pop_back();
  return taken;
}

void Stepper::Log(const Flow& flow, log::Level level, std::string message) {
  actions_->emplace_back(LogLine{flow.id, level, std::move(message)});
}

// The driver knows only calls that were sent to it. A sub-flow's frame is ended by its own rules,
// and a delayed call has not begun.
void Stepper::AbandonCall(const PendingCall& call) {
  if (call.child == 0 && call.send_ms == 0) actions_->emplace_back(Abandon{call.id});
}

void Stepper::On(Start event) {
  // A run starts once: a second Start changes nothing.
  if (std::exchange(state_.started, true)) return;
  state_.run = std::move(event.run);
  state_.cid = std::move(event.cid);
  state_.trace = std::move(event.trace);
  const Flow* flow = run_.flows_->Find(event.flow);
  if (flow == nullptr) return Refuse(404, fmt::format("Flow {} not found", event.flow));
  if (const Status size = CheckSize(event.input); !size.ok()) {
    return Refuse(400, "the input: " + size.message());
  }
  const uint64_t ttl_ms = event.ttl_ms > 0 ? event.ttl_ms : flow->ttl_ms;
  // The id that StartFrame gives to the frame. It must be known before, because the first task may
  // already end the frame.
  state_.root = state_.last_id + 1;
  StartFrame(*flow, std::move(event.input), ttl_ms, nullptr);
}

// No frame is made, so Finish ends the run in the same step.
void Stepper::Refuse(int status, std::string message) {
  state_.status = status;
  state_.message = std::move(message);
  actions_->emplace_back(
      Respond{status, json::Value::EmptyObject(), ErrorBody(status, state_.message)});
}

void Stepper::On(TaskResult event) {
  PendingCall* const call = FindCall(event.call);
  // A late answer (the call timed out, or its frame ended), or one for a call that the driver does
  // not have. It must do nothing.
  if (call == nullptr || call->child != 0 || call->send_ms != 0) return;
  // Everything that enters the state is bounded, whatever the driver sends.
  for (const json::Value* part : {&event.body, &event.headers}) {
    const Status size = CheckSize(*part);
    if (size.ok()) continue;
    return Deliver(TakeCall(call), {0, 500, {}, "the task's answer: " + size.message(), {}});
  }
  Deliver(TakeCall(call), std::move(event));
}

// Unlike AbortFrame, no exception handler runs and no task runs on: the operator or the server
// wants the run to end now. The empty lists let Finish end the run.
void Stepper::On(const Cancel& event) {
  if (Frame* root = FindFrame(state_.root)) {
    run_.last_model_ = root->model;
    state_.status = event.status;
    state_.message = event.message;
    if (!root->responded) {
      actions_->emplace_back(Respond{event.status, json::Value::EmptyObject(),
                                     ErrorBody(event.status, event.message)});
    }
  }
  for (const PendingCall& call : state_.calls) AbandonCall(call);
  state_.calls.clear();
  state_.groups.clear();
  state_.frames.clear();
}

// One thing at a time, the earliest first, because each may change what else is due: a task that
// times out may end the frame that would time out next. A frame wins over a call with the same
// time. Sub-flows have no due time as calls: their frames have.
void Stepper::FireDue() {
  while (true) {
    uint64_t least = now_ms_ + 1;
    uint64_t frame_id = 0;
    uint64_t call_id = 0;
    for (const Frame& frame : state_.frames) {
      if (frame.due_ms < least) {
        least = frame.due_ms;
        frame_id = frame.id;
      }
    }
    for (const PendingCall& call : state_.calls) {
      const uint64_t due_ms = call.send_ms != 0 ? call.send_ms : call.due_ms;
      if (due_ms != 0 && due_ms < least) {
        least = due_ms;
        call_id = call.id;
      }
    }
    if (least > now_ms_) return;
    PendingCall* const call = FindCall(call_id);
    if (call != nullptr && call->send_ms != 0) {
      // The delay is over: now the call is sent, and its own time limit starts.
      call->send_ms = 0;
      Dispatch(call_id);
    } else if (call != nullptr) {
      PendingCall taken = TakeCall(call);
      AbandonCall(taken);
      const Task& task = FindFrame(taken.frame)->flow->tasks[static_cast<size_t>(taken.task)];
      Deliver(std::move(taken), {0, 408, {}, fmt::format("Timeout for {} ms", task.ttl_ms), {}});
    } else {
      const Frame* frame = FindFrame(frame_id);
      // No handler of this flow may take it: the flow has no time left. Its caller may.
      AbortFrame(frame_id, 408, fmt::format("Flow timeout for {} ms", frame->ttl_ms), Tasks::kStop);
    }
  }
}

// A frame without calls can't change any more. If it has answered, it is simply removed; if not,
// all its ways ended in sinks, and its caller would wait for ever. Each removal starts over,
// because an abort may deliver to another frame, and the order of the list changes.
void Stepper::Finish() {
  for (size_t i = 0; i < state_.frames.size();) {
    const uint64_t id = state_.frames[i].id;
    const bool alive = std::any_of(state_.calls.begin(), state_.calls.end(),
                                   [&](const PendingCall& call) { return call.frame == id; });
    if (alive) {
      ++i;
    } else if (state_.frames[i].responded) {
      EraseFrame(id);
      i = 0;
    } else {
      AbortFrame(id, 500,
                 fmt::format("Flow {} has nothing left to run and reached no end task",
                             state_.frames[i].flow->id));
      i = 0;
    }
  }
  if (!state_.started || !state_.frames.empty() || std::exchange(state_.ended, true)) return;
  actions_->emplace_back(Ended{state_.status, state_.message});
}

void Stepper::StartFrame(const Flow& flow, json::Value input, uint64_t ttl_ms,
                         const PendingCall* caller, bool caller_waits) {
  Frame frame;
  frame.id = ++state_.last_id;
  frame.flow = &flow;
  frame.input = input.is_object() ? std::move(input) : json::Value::EmptyObject();
  frame.ttl_ms = ttl_ms;
  frame.due_ms = now_ms_ + ttl_ms;
  frame.model = json::Value::Object({{"instance", state_.run},
                                     {"cid", state_.cid},
                                     {"flow", flow.id},
                                     {"ttl", static_cast<int64_t>(ttl_ms)}});
  if (!state_.trace.empty()) frame.model.Set("trace", state_.trace);
  if (caller != nullptr) {
    const Frame& parent = *FindFrame(caller->frame);
    if (caller_waits) frame.caller = caller->id;
    frame.depth = parent.depth + 1;
    // A sub-flow never has more time than its caller has left.
    frame.due_ms = std::min(frame.due_ms, parent.due_ms);
  }
  const uint64_t id = frame.id;
  state_.frames.push_back(std::move(frame));
  StartTask(id, flow.first, {});
}

// The call becomes the caller of a new frame. `caller_waits` is false for a call of a frame that is
// over: the sub-flow runs, as other tasks of such a frame do, but its answer goes nowhere, so the
// call is removed at once.
void Stepper::StartSubflow(uint64_t call_id) {
  PendingCall* const call = FindCall(call_id);
  const Frame& frame = *FindFrame(call->frame);
  const Task& task = frame.flow->tasks[static_cast<size_t>(call->task)];
  const Flow* flow = run_.flows_->Find(task.subflow);
  const bool too_many = frame.depth + 1 >= kMaxFlowDepth || state_.frames.size() >= kMaxFrames;
  if (flow == nullptr || too_many) {
    const TaskResult refused = {
        .status = 500,
        .body = flow == nullptr
                    ? fmt::format("{} not defined", task.route)
                    : fmt::format("{} - more than {} flows inside each other or {} in one run",
                                  task.route, kMaxFlowDepth, kMaxFrames)};
    const uint64_t frame_id = frame.id;
    const PendingCall taken = TakeCall(call);
    if (frame.over) return PassOver(taken, refused);
    // An error of the app and not of the task, so the flow's handlers do not get it.
    return AbortFrame(frame_id, refused.status, refused.body);
  }
  json::Value input;
  if (task.subflow_input == SubflowInput::kDataset) {
    input = call->body;
  } else {
    input = json::Value::Object({{"body", call->body}});
  }
  input.Set("header", call->headers);
  const uint64_t ttl_ms = task.ttl_ms > 0 ? std::min(task.ttl_ms, flow->ttl_ms) : flow->ttl_ms;
  // As with state_.root: the id must be in the call before the frame's first task runs and answers.
  call->child = state_.last_id + 1;
  call->due_ms = 0;
  // A copy: StartFrame adds calls, which moves the list.
  const PendingCall caller = *call;
  actions_->emplace_back(
      SubflowBegan{call->id, frame.flow->id, task.name, task.route, call->frame, call->child});
  const bool waits = !frame.over;
  if (!waits) TakeCall(call);
  StartFrame(*flow, std::move(input), ttl_ms, &caller, waits);
}

// Answers the starter of the run (root) or the call that waits for this sub-flow; a second answer
// of the same frame is ignored. The frame goes on: only EndFrame ends it.
void Stepper::RespondFrame(uint64_t frame_id, int status, json::Value headers, json::Value body) {
  Frame* const frame = FindFrame(frame_id);
  if (std::exchange(frame->responded, true)) return;
  if (frame_id == state_.root) {
    state_.status = status;
    actions_->emplace_back(Respond{status, std::move(headers), std::move(body)});
    return;
  }
  PendingCall* const call = FindCall(std::exchange(frame->caller, 0));
  if (call == nullptr) return;
  PendingCall taken = TakeCall(call);
  // Deliver reports the end of a sub-flow by this.
  taken.child = frame_id;
  Deliver(std::move(taken), {0, status, std::move(headers), std::move(body), {}});
}

// The tasks of a frame that is over have run out of time as well: they are stopped and logged.
void Stepper::GiveUpRest(const Frame& frame) {
  for (const PendingCall& call : state_.calls) {
    if (call.frame != frame.id) continue;
    Log(*frame.flow, log::Level::kWarn,
        fmt::format("Task {} was not done within the {} ms of flow {}, which had ended before it",
                    frame.flow->tasks[static_cast<size_t>(call.task)].name, frame.ttl_ms,
                    frame.flow->id));
  }
  EndFrame(frame.id, Tasks::kStop);
}

// Ends a flow with an error: no handler took it, its time is over, or it can't go on. After a
// response the client has its answer already, so the error can only be logged. For a frame that is
// over this is the second end: its last tasks ran out of time.
void Stepper::AbortFrame(uint64_t frame_id, int status, const json::Value& message, Tasks tasks) {
  Frame* const frame = FindFrame(frame_id);
  if (frame == nullptr) return;
  if (frame->over) return GiveUpRest(*frame);
  const bool root = frame_id == state_.root;
  if (root) {
    state_.status = status;
    state_.message = TextOf(message);
  }
  if (std::exchange(frame->responded, true)) {
    Log(*frame->flow, log::Level::kError,
        fmt::format("Flow {} aborted after its response: {} {}", frame->flow->id, status,
                    TextOf(message)));
    return EndFrame(frame_id, tasks);
  }
  // The caller is answered last: its next tasks must not find calls of this frame.
  const uint64_t caller = std::exchange(frame->caller, 0);
  EndFrame(frame_id, tasks);
  if (root) {
    actions_->emplace_back(Respond{status, json::Value::EmptyObject(), ErrorBody(status, message)});
    return;
  }
  PendingCall* const call = FindCall(caller);
  if (call == nullptr) return;
  Deliver(TakeCall(call), {0, status, {}, ErrorBody(status, message), {}});
}

// Tasks that the driver runs are not undone: with kRun the frame stays, `over`, until they have
// ended, so that their writes count and their failures are logged. Delayed tasks are still sent.
// Groups go, because no result is followed any more.
void Stepper::EndFrame(uint64_t frame_id, Tasks tasks) {
  Frame* const frame = FindFrame(frame_id);
  if (frame == nullptr) return;
  bool runs_on = false;
  for (const PendingCall& call : state_.calls) {
    if (call.frame != frame_id) continue;
    // Sub-flows that it called continue by themselves.
    if (Frame* child = call.child == 0 ? nullptr : FindFrame(call.child)) child->caller = 0;
    if (tasks == Tasks::kStop) AbandonCall(call);
    runs_on = runs_on || (tasks == Tasks::kRun && call.child == 0);
  }
  if (!runs_on) return EraseFrame(frame_id);
  EraseIf(&state_.calls,
          [&](const PendingCall& call) { return call.frame == frame_id && call.child != 0; });
  EraseIf(&state_.groups, [&](const Group& group) { return group.frame == frame_id; });
  frame->over = true;
}

// Also drops the calls that are left: nothing waits for their answers any more.
void Stepper::EraseFrame(uint64_t frame_id) {
  if (frame_id == state_.root) run_.last_model_ = std::move(FindFrame(frame_id)->model);
  EraseIf(&state_.calls, [&](const PendingCall& call) { return call.frame == frame_id; });
  EraseIf(&state_.groups, [&](const Group& group) { return group.frame == frame_id; });
  EraseIf(&state_.frames, [&](const Frame& each) { return each.id == frame_id; });
}

// In a branch of a fork over a list, `model.list.ITEM` and `.INDEX` are not in the model, which all
// branches share: they come from the branch's line.
ModelView Stepper::View(const Frame& frame, const Line& line) {
  ModelView view = View(frame);
  const Group* const group = line.index < 0 ? nullptr : FindGroup(line.group);
  if (group == nullptr) return view;
  if (const auto& source = TaskOf(*group).source) view.list = source->text;
  view.item = &line.item;
  view.index = line.index;
  return view;
}

bool Stepper::RunTaskMappings(const std::vector<Mapping>& mappings, const TaskResult* result,
                              Frame* frame, const Line& line, Mapped* mapped) {
  if (mappings.empty()) return true;
  std::vector<std::string> complaints;
  Scope scope;
  scope.view = View(*frame, line);
  scope.input = &frame->input;
  scope.error = &line.error;
  if (result != nullptr) {
    scope.result = &result->body;
    scope.header = &result->headers;
    scope.status = result->status;
    scope.mapped = mapped;
  }
  std::optional<FilesOfStep> files;
  if (run_.files_ != nullptr) {
    scope.files = &files.emplace(*run_.files_, frame->flow->id, actions_);
  }
  scope.now_ms = now_ms_;
  scope.complaints = &complaints;
  // Mappings that ran before a failing one have changed the model; the frame is aborted anyway.
  const Status status = RunMappings(mappings, scope, {&frame->model, &state_.shared, mapped});
  for (std::string& complaint : complaints) {
    Log(*frame->flow, log::Level::kError, std::move(complaint));
  }
  // Values for `ext:` are sent even if a later mapping fails: they were mapped before it.
  SendExternals(*frame, std::exchange(mapped->externals, {}));
  if (!status.ok()) AbortFrame(frame->id, 400, status.message());
  return status.ok();
}

// A flow as the state machine gets a dataset, a route gets headers and the bare value.
void Stepper::SendExternals(const Frame& frame, std::vector<Mapped::External> externals) {
  const std::string_view route = frame.flow->external_route;
  for (Mapped::External& external : externals) {
    const bool put = !external.value.is_missing();
    json::Value headers =
        json::Value::Object({{"type", put ? "put" : "remove"}, {"key", external.key}});
    json::Value body = std::move(external.value);
    if (route.starts_with(kFlowScheme)) {
      json::Value data = json::Value::EmptyObject();
      data.Set("data", std::move(body));
      body = json::Value::Object({{"header", headers}, {"body", data}});
    }
    actions_->emplace_back(Send{route, std::move(headers), std::move(body)});
  }
}

uint64_t Stepper::DelayOf(const Task& task, const Frame& frame, const Line& line) {
  if (!task.delay_ref) return task.delay_ms;
  const json::Value value = task.delay_ref->Get(View(frame, line));
  if (value.is_missing()) return 0;  // it need not be delayed each time
  std::optional<uint64_t> delay_ms;
  if (value.is_string()) {
    delay_ms = ParseDelayMs(value.AsString());
  } else if (const auto number = WholeNumberOf(value); number && *number >= 0) {
    delay_ms = static_cast<uint64_t>(*number);
  }
  if (delay_ms && *delay_ms < frame.ttl_ms) return *delay_ms;
  Log(*frame.flow, log::Level::kWarn,
      fmt::format("Unable to schedule future task {} because {} is invalid (TTL={}, delay={})",
                  task.name, task.delay_ref->text, frame.ttl_ms, TextOf(value)));
  return 0;
}

// Runs the input mappings and makes the call. Every task starts here, whatever led to it. The frame
// may be gone or over: the caller's earlier steps may have ended it.
void Stepper::StartTask(uint64_t frame_id, TaskIndex index, Line line) {
  Frame* const frame = FindFrame(frame_id);
  if (frame == nullptr || frame->over) return;
  const ChainLink link(&chain_);
  // Tasks start each other without a function between them only when input mappings or sub-flows
  // fail and the handler does so, too; this would recurse for ever.
  if (chain_ > kMaxChain) {
    return AbortFrame(frame_id, 500,
                      fmt::format("Flow {} goes from error to error without running a function",
                                  frame->flow->id));
  }
  // Before the mappings, which must see the model outside of the branch.
  line = LeaveGroup(std::move(line), index);
  const Task& task = frame->flow->tasks[static_cast<size_t>(index)];
  Mapped mapped;
  if (!RunTaskMappings(task.input, nullptr, frame, line, &mapped)) return;
  if (state_.calls.size() >= kMaxCalls) {
    return AbortFrame(frame_id, 503, fmt::format("more than {} tasks wait in one run", kMaxCalls));
  }
  // `hold_ms_` is the pause that the task before asked for (resilience.handler). A delay past the
  // frame's end is harmless: FireDue aborts the frame first.
  const uint64_t delay_ms = DelayOf(task, *frame, line) + std::min(hold_ms_, frame->ttl_ms);
  PendingCall call;
  call.id = ++state_.last_id;
  call.frame = frame_id;
  call.task = index;
  call.line = std::move(line);
  call.headers = std::move(mapped.headers);
  call.body = std::move(mapped.body);
  if (delay_ms > 0) call.send_ms = now_ms_ + delay_ms;
  const uint64_t id = call.id;
  state_.calls.push_back(std::move(call));
  if (delay_ms == 0) Dispatch(id);
}

// Sends a call to the driver, or starts its sub-flow. The time limit starts here, after any delay.
void Stepper::Dispatch(uint64_t call_id) {
  PendingCall* const call = FindCall(call_id);
  const Flow& flow = *FindFrame(call->frame)->flow;
  const Task& task = flow.tasks[static_cast<size_t>(call->task)];
  if (task.is_subflow()) return StartSubflow(call_id);
  uint64_t due_ms = FindFrame(call->frame)->due_ms;
  if (task.ttl_ms > 0) {
    call->due_ms = now_ms_ + task.ttl_ms;
    due_ms = std::min(due_ms, call->due_ms);
  }
  actions_->emplace_back(Call{call->id, flow.id, task.name, task.route, call->headers, call->body,
                              due_ms, call->frame});
}

}  // namespace sluice::flow
