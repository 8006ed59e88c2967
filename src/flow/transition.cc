// What follows a task's result: the next tasks, the branches of forks, the steps of pipelines, and
// handlers of errors.
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

// The number of the chosen task, from 1; 0 when the decision is none.
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
  const uint64_t outer_ms = std::exchange(hold_ms_, result.hold_next_ms);
  if (result.status >= 400) {
    Fail(std::move(call), result);
  } else {
    Succeed(std::move(call), result);
  }
  hold_ms_ = outer_ms;
}

// The flow of the task has ended.
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
    if (IsMember(*group, call.task)) return MemberDone(group->id);
  }
  Follow(call.frame, call.task, std::move(call.line), std::move(mapped));
}

void Stepper::Fail(PendingCall call, const TaskResult& result) {
  const Frame& frame = *FindFrame(call.frame);
  const Flow& flow = *frame.flow;
  const Task& task = flow.tasks[static_cast<size_t>(call.task)];
  json::Value message = result.body;
  if (call.child != 0 || task.is_subflow()) {
    if (message["type"] == json::Value("error") && message.Find("message") != nullptr) {
      message = json::Value(message["message"]);
    }
  }
  if (message.is_missing()) message = json::Value(nullptr);
  if (call.line.group != 0 && FindGroup(call.line.group) == nullptr) {
    return Log(flow, log::Level::kWarn,
               fmt::format("Task {} failed after its fork or pipeline was left: {} {}", task.name,
                           result.status, TextOf(message)));
  }
  TaskIndex handler = task.exception == call.task ? kNoTask : task.exception;
  if (handler == kNoTask && flow.exception != call.task) handler = flow.exception;
  if (handler == kNoTask) return AbortFrame(call.frame, result.status, message);
  call.line.error = json::Value::Object({{"code", result.status},
                                         {"message", message},
                                         {"stack", FirstLines(result.stack)},
                                         {"task", task.name}});
  call.line.failed = call.task;
  StartTask(call.frame, handler, std::move(call.line));
}

void Stepper::Follow(uint64_t frame_id, TaskIndex index, Line line, Mapped mapped) {
  const Task& task = FindFrame(frame_id)->flow->tasks[static_cast<size_t>(index)];
  const int status = mapped.status == 0 ? 200 : mapped.status;
  switch (task.execution) {
    case Execution::kDecision:
      return Decide(frame_id, task, std::move(line), mapped.decision);
    case Execution::kResponse:
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

// Each goes its own way; a fork or pipeline that this belongs to does not wait for them.
void Stepper::StartAll(uint64_t frame_id, const Task& task, const Line& line) {
  for (const TaskIndex next : task.next) StartTask(frame_id, next, {});
  if (line.group != 0 && FindGroup(line.group) != nullptr) MemberDone(line.group);
}

void Stepper::StartFork(uint64_t frame_id, TaskIndex index, Line line) {
  const Frame& frame = *FindFrame(frame_id);
  const Task& task = frame.flow->tasks[static_cast<size_t>(index)];
  json::Value list;
  size_t branches = task.next.size();
  if (task.source) {
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
  if (!LoopGoesOn(loop, *frame)) return FinishGroup(group_id);
  RunStep(*FindGroup(group_id));
}

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
    if (__builtin_add_overflow(count, loop.delta, &next)) return FinishGroup(group->id);
    const Status set = loop.counter.path.Set(root, View(*frame), next);
    if (!set.ok()) return AbortFrame(frame->id, 400, set.message());
  }
  if (!LoopGoesOn(loop, *frame)) return FinishGroup(group->id);
  group->step = 0;
  RunStep(*group);
}

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

// A handler may go straight to where its fork or pipeline leads: that is then not waited for.
Line Stepper::LeaveGroup(Line line, TaskIndex going_to) {
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
