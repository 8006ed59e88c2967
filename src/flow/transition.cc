// What follows a task's result: the next tasks, the branches of forks, the steps of pipelines, and
// handlers of errors.
//
//   Deliver   a result arrives: Succeed runs the output mappings, Fail looks for a handler
//   Follow    the execution type of the task decides what comes next
//   groups    a fork counts its branches, a pipeline walks its steps; both end in FinishGroup
//
// A line (run.h) says how control came to a task. Tasks that follow get the line of the task
// before, so that a handler and the tasks after it still belong to the fork or pipeline of the
// task that failed. Lines nest: a group keeps the line that it was started with as `outer`, and
// FinishGroup continues with it.
//
// How a group ends:
// 1. A member itself (a task in `next` of the fork, the present step of the pipeline) succeeds:
//    MemberDone. Its own `execution` is ignored.
// 2. A member fails, and its handler or a task after the handler ends in a sink: MemberDone, too.
//    The handler stands for the member.
// 3. A handler leads to the task after the group (`join`, or the pipeline's next): LeaveGroup drops
//    the group. Other branches that succeed then find no group and end silently; failures are
//    logged.
// 4. The frame ends: EndFrame drops all its groups.
// So a group is either in the list and waits for its members, or its members are ignored.
#include <algorithm>
#include <utility>

#include "flow/stepper.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr size_t kMaxStackLines = 10;

std::string FirstLines(const std::string& text) {
  size_t end = 0;
  for (size_t line = 0; line < kMaxStackLines; ++line) {
    const size_t next = text.find('\n', end);
    if (next == text.npos) return text;
    end = next + 1;
  }
  return text.substr(0, end - 1);
}

// The number of the chosen task, from 1; 0 if the value is not a decision. true and false choose
// the first and the second; texts of them count, too.
size_t ChosenTask(const json::Value& decision) {
  const bool yes = IsTrue(decision);
  if (decision.is_bool()) return yes ? 1 : 2;
  if (decision.is_string() && (yes || EqualsIgnoringCase(decision.AsString(), "false"))) {
    return yes ? 1 : 2;
  }
  const auto number = WholeNumberOf(decision);
  return number && *number > 0 ? static_cast<size_t>(*number) : 0;
}

}  // namespace

const Task& Stepper::TaskOf(const Group& group) {
  return FindFrame(group.frame)->flow->tasks[static_cast<size_t>(group.task)];
}

void Stepper::Deliver(PendingCall call, TaskResult result) {
  const Frame* const frame = FindFrame(call.frame);
  if (frame == nullptr) return;
  if (frame->over) return PassOver(call, result);
  if (call.child != 0) {
    actions_->emplace_back(SubflowEnded{call.id, result.status, result.headers, result.body});
  }
  // Results nest: this one may end a sub-flow, which delivers to its caller. Each has its own hold.
  const uint64_t outer_ms = std::exchange(hold_ms_, result.hold_next_ms);
  if (result.status >= 400) {
    Fail(std::move(call), result);
  } else {
    Succeed(std::move(call), result);
  }
  hold_ms_ = outer_ms;
}

// The flow of the task has ended: nothing follows, and only a failure is worth a line in the log.
void Stepper::PassOver(const PendingCall& call, const TaskResult& result) {
  if (result.status < 400) return;
  const Flow& flow = *FindFrame(call.frame)->flow;
  Log(flow, log::Level::kWarn,
      fmt::format("Task {} failed after flow {} had ended: {} {}",
                  flow.tasks[static_cast<size_t>(call.task)].name, flow.id, result.status,
                  TextOf(result.body)));
}

void Stepper::Succeed(PendingCall call, const TaskResult& result) {
  Frame* const frame = FindFrame(call.frame);
  const Task& task = frame->flow->tasks[static_cast<size_t>(call.task)];
  Mapped mapped;
  if (!RunTaskMappings(task.output, &result, frame, call.line, &mapped)) return;
  if (call.line.group != 0) {
    const Group* group = FindGroup(call.line.group);
    if (group == nullptr) return;  // its fork or pipeline was left
    // Not a member: a handler of one, or a task that follows it. It goes its own way until a sink.
    if (IsMember(*group, call.task)) return MemberDone(group->id);
  }
  Follow(call.frame, call.task, std::move(call.line), std::move(mapped));
}

void Stepper::Fail(PendingCall call, const TaskResult& result) {
  const Frame& frame = *FindFrame(call.frame);
  const Flow& flow = *frame.flow;
  const Task& task = flow.tasks[static_cast<size_t>(call.task)];
  json::Value message = result.body;
  // A sub-flow that was aborted answers with ErrorBody. The handler gets the message inside it, as
  // it would of a function.
  if (call.child != 0 || task.is_subflow()) {
    if (message["type"] == json::Value("error") && message.Find("message") != nullptr) {
      message = json::Value(message["message"]);
    }
  }
  // `error.message` must exist, or a mapping of it would delete its target.
  if (message.is_missing()) message = json::Value(nullptr);
  if (call.line.group != 0 && FindGroup(call.line.group) == nullptr) {
    return Log(flow, log::Level::kWarn,
               fmt::format("Task {} failed after its fork or pipeline was left: {} {}", task.name,
                           result.status, TextOf(message)));
  }
  // A handler never handles its own failure; the flow's handler may handle that of a task's
  // handler. A flow.exception task that fails and has no handler of its own aborts the flow.
  TaskIndex handler = task.exception == call.task ? kNoTask : task.exception;
  if (handler == kNoTask && flow.exception != call.task) handler = flow.exception;
  if (handler == kNoTask) return AbortFrame(call.frame, result.status, message);
  call.line.error = json::Value::Object({{"code", result.status},
                                         {"message", message},
                                         {"stack", FirstLines(result.stack)},
                                         {"task", task.name}});
  // `@retry` (Decide) goes back to this task.
  call.line.failed = call.task;
  StartTask(call.frame, handler, std::move(call.line));
}

// For tasks that are no members of a group. The line goes on to the next task, except where tasks
// become independent of it (kParallel).
void Stepper::Follow(uint64_t frame_id, TaskIndex index, Line line, Mapped mapped) {
  const Task& task = FindFrame(frame_id)->flow->tasks[static_cast<size_t>(index)];
  const int status = mapped.status == 0 ? 200 : mapped.status;
  switch (task.execution) {
    case Execution::kDecision:
      return Decide(frame_id, task, std::move(line), mapped.decision);
    case Execution::kResponse:
      // The answer of a sub-flow continues its caller at once; this flow goes on beside it.
      RespondFrame(frame_id, status, std::move(mapped.headers), std::move(mapped.output));
      return StartTask(frame_id, task.next.front(), std::move(line));
    case Execution::kEnd:
      RespondFrame(frame_id, status, std::move(mapped.headers), std::move(mapped.output));
      return EndFrame(frame_id, Tasks::kRun);
    case Execution::kSequential:
      return StartTask(frame_id, task.next.front(), std::move(line));
    case Execution::kParallel:
      return StartAll(frame_id, task, line);
    case Execution::kFork:
      return StartFork(frame_id, index, std::move(line));
    case Execution::kPipeline:
      return StartPipeline(frame_id, index, std::move(line));
    case Execution::kSink:
      // The end of a handler's way: its branch or step is done. Elsewhere a sink ends a way of the
      // flow, and Finish aborts the flow if that was the last one.
      if (line.group != 0) MemberDone(line.group);
      return;
  }
}

void Stepper::Decide(uint64_t frame_id, const Task& task, Line line, const json::Value& decision) {
  const size_t chosen = ChosenTask(decision);
  if (chosen == 0 || chosen > task.next.size()) {
    return AbortFrame(
        frame_id, 500,
        fmt::format("Task {} returned invalid decision ({})", task.name, TextOf(decision)));
  }
  TaskIndex next = task.next[chosen - 1];
  if (next == kRetryTask) {
    // The failure is handled: the task that runs again must not see it, nor a later `@retry`.
    next = std::exchange(line.failed, kNoTask);
    line.error = json::Value();
    if (next == kNoTask) next = task.retry_fallback;
  }
  if (next == kNoTask) {
    return AbortFrame(frame_id, 500,
                      fmt::format("Task {} does not have a previous task", task.name));
  }
  StartTask(frame_id, next, std::move(line));
}

// Each task goes its own way with a new line: a fork or pipeline that this task belongs to does not
// wait for them, but counts this task as done.
void Stepper::StartAll(uint64_t frame_id, const Task& task, const Line& line) {
  for (const TaskIndex next : task.next) StartTask(frame_id, next, {});
  if (line.group != 0 && FindGroup(line.group) != nullptr) MemberDone(line.group);
}

// All branches start in this step, in order. A branch may fail at once and end the flow or leave
// the fork; then the rest is not started.
void Stepper::StartFork(uint64_t frame_id, TaskIndex index, Line line) {
  const Frame& frame = *FindFrame(frame_id);
  const Task& task = frame.flow->tasks[static_cast<size_t>(index)];
  json::Value list;
  size_t branches = task.next.size();
  if (task.source) {
    // A copy that shares its elements: a branch may change the model's list while others start.
    list = task.source->Get(View(frame));
    if (!list.is_array()) {
      return AbortFrame(frame_id, 400, fmt::format("{} is not a list", task.source->text));
    }
    branches = list.size();
  }
  if (branches > kMaxBranches) {
    return AbortFrame(frame_id, 400,
                      fmt::format("Task {} has more than {} branches", task.name, kMaxBranches));
  }
  // No member would ever be done.
  if (branches == 0) return StartTask(frame_id, task.join, std::move(line));
  Group group;
  group.id = ++state_.last_id;
  group.frame = frame_id;
  group.task = index;
  group.outer = std::move(line);
  group.expected = branches;
  const uint64_t group_id = group.id;
  state_.groups.push_back(std::move(group));
  for (size_t i = 0; i < branches; ++i) {
    if (FindGroup(group_id) == nullptr) return;  // a branch ended the flow
    Line branch;
    branch.group = group_id;
    if (task.source) {
      branch.index = static_cast<int64_t>(i);
      branch.item = list[i];
    }
    StartTask(frame_id, task.source ? task.next.front() : task.next[i], std::move(branch));
  }
}

void Stepper::StartPipeline(uint64_t frame_id, TaskIndex index, Line line) {
  Frame* const frame = FindFrame(frame_id);
  const Task& task = frame->flow->tasks[static_cast<size_t>(index)];
  Group group;
  group.id = ++state_.last_id;
  group.frame = frame_id;
  group.task = index;
  group.outer = std::move(line);
  const uint64_t group_id = group.id;
  state_.groups.push_back(std::move(group));
  const Loop& loop = task.loop;
  if (loop.start_ref) {
    json::Value* const root = loop.start_ref->shared ? &state_.shared : &frame->model;
    const Status set = loop.start_ref->path.Set(root, View(*frame), loop.start);
    if (!set.ok()) return AbortFrame(frame_id, 400, set.message());
  }
  // The condition is tested before the first round, too: a loop may run no round at all.
  if (!LoopGoesOn(loop, *frame)) return FinishGroup(group_id);
  RunStep(*FindGroup(group_id));
}

// Of a pipeline only the present step is a member: a task may be in the list twice, and the answer
// of a handler of an earlier step must not count as this one's.
bool Stepper::IsMember(const Group& group, TaskIndex task) {
  const Task& owner = TaskOf(group);
  if (owner.execution == Execution::kPipeline) return owner.pipeline[group.step] == task;
  return std::find(owner.next.begin(), owner.next.end(), task) != owner.next.end();
}

void Stepper::MemberDone(uint64_t group_id) {
  Group* const group = FindGroup(group_id);
  if (group == nullptr) return;
  if (TaskOf(*group).execution == Execution::kPipeline) return StepDone(group);
  if (++group->done >= group->expected) FinishGroup(group_id);
}

// After each step the loop's conditions are tested in order, and the first that holds acts. Its
// variable is removed from the model, so that it does not hold again in the next round. `continue`
// skips the rest of the round.
void Stepper::StepDone(Group* group) {
  const Task& task = TaskOf(*group);
  Frame* const frame = FindFrame(group->frame);
  for (const Loop::Condition& condition : task.loop.conditions) {
    const json::Value& value = condition.ref.Get(View(*frame));
    if (!value.is_bool() || !value.AsBool()) continue;
    json::Value* const root = condition.ref.shared ? &state_.shared : &frame->model;
    const Status removed = condition.ref.path.Set(root, View(*frame), json::Value());
    if (!removed.ok()) return AbortFrame(frame->id, 400, removed.message());
    if (condition.act == Loop::Act::kBreak) return FinishGroup(group->id);
    return NextRound(group);
  }
  if (group->step + 1 >= task.pipeline.size()) return NextRound(group);
  ++group->step;
  RunStep(*group);
}

void Stepper::NextRound(Group* group) {
  const Loop& loop = TaskOf(*group).loop;
  Frame* const frame = FindFrame(group->frame);
  if (loop.kind == Loop::Kind::kNone) return FinishGroup(group->id);
  if (loop.kind == Loop::Kind::kFor) {
    json::Value* const root = loop.counter.shared ? &state_.shared : &frame->model;
    const int64_t count = WholeNumberOf(loop.counter.Get(View(*frame))).value_or(-1);
    int64_t next = 0;
    // A counter at the end of its range can't go on: the loop ends, instead of wrapping around.
    if (__builtin_add_overflow(count, loop.delta, &next)) return FinishGroup(group->id);
    const Status set = loop.counter.path.Set(root, View(*frame), next);
    if (!set.ok()) return AbortFrame(frame->id, 400, set.message());
  }
  if (!LoopGoesOn(loop, *frame)) return FinishGroup(group->id);
  group->step = 0;
  RunStep(*group);
}

// Each step gets a fresh line: errors of the step before are handled, and are not this one's.
void Stepper::RunStep(const Group& group) {
  Line line;
  line.group = group.id;
  StartTask(group.frame, TaskOf(group).pipeline[group.step], std::move(line));
}

bool Stepper::LoopGoesOn(const Loop& loop, const Frame& frame) {
  if (loop.kind == Loop::Kind::kNone) return true;
  if (loop.kind == Loop::Kind::kWhile) {
    const json::Value& running = loop.running.Get(View(frame));
    return running.is_bool() && running.AsBool();
  }
  const auto number = [&](const Loop::Operand& operand) {
    if (!operand.ref) return operand.number;
    return WholeNumberOf(operand.ref->Get(View(frame))).value_or(-1);
  };
  const int64_t left = number(loop.left);
  const int64_t right = number(loop.right);
  switch (loop.compare) {
    case Loop::Compare::kLess:
      return left < right;
    case Loop::Compare::kLessEqual:
      return left <= right;
    case Loop::Compare::kMore:
      return left > right;
    case Loop::Compare::kMoreEqual:
      return left >= right;
  }
  return false;
}

// The group is removed before its successor starts: from here on results of members are ignored.
void Stepper::FinishGroup(uint64_t group_id) {
  Group* const group = FindGroup(group_id);
  const Task& task = TaskOf(*group);
  const uint64_t frame_id = group->frame;
  Line outer = std::move(group->outer);
  if (group != &state_.groups.back()) *group = std::move(state_.groups.back());
  state_.groups.pop_back();
  const bool fork = task.execution == Execution::kFork;
  StartTask(frame_id, fork ? task.join : task.next.front(), std::move(outer));
}

// A handler may lead straight to the task after its fork or pipeline. Then that group is dropped,
// and the line is the one outside of it. A line whose group was dropped before becomes an empty
// line: the task belongs to no group.
Line Stepper::LeaveGroup(Line line, TaskIndex going_to) {
  // Groups nest, and a handler in an inner one may lead out of several at once.
  while (line.group != 0) {
    Group* const group = FindGroup(line.group);
    if (group == nullptr) return {};
    const Task& task = TaskOf(*group);
    const TaskIndex leads_to = task.execution == Execution::kFork ? task.join : task.next.front();
    if (leads_to != going_to || IsMember(*group, going_to)) return line;
    line = std::move(group->outer);
    if (group != &state_.groups.back()) *group = std::move(state_.groups.back());
    state_.groups.pop_back();
  }
  return line;
}

}  // namespace sluice::flow
