#include "flow_engine/task_caller.h"

#include <algorithm>
#include <utility>

namespace sluice::flow_engine {
namespace {

flow::TaskResult TaskResultOf(uint64_t call, TaskOutput output) {
  return {.call = call,
          .status = output.status,
          .headers = std::move(output.headers),
          .body = std::move(output.body),
          .stack = std::move(output.stack),
          .hold_next_ms = output.hold_next_ms};
}

// That of the last call, if nobody looks at it any more.
std::shared_ptr<std::atomic<bool>> NewCancelled(Route::Slot& slot) {
  if (slot.cancelled == nullptr || slot.cancelled.use_count() > 1) {
    slot.cancelled = std::make_shared<std::atomic<bool>>();
  }
  *slot.cancelled = false;
  return slot.cancelled;
}

}  // namespace

// Keeps the writes of a durable run's function, to be stored with the step.
class TaskCaller::WriteSink final : public TaskSink {
 public:
  Status Commit(const TaskOutput& /*output*/, db::Commit commit) override {
    commit_ = std::move(commit);
    return OkStatus();
  }
  db::Commit TakeCommit() { return std::move(commit_); }

 private:
  db::Commit commit_;
};

RunEvent TaskCaller::FailureOf(const LiveRunPtr& run, uint64_t call, int status,
                               std::string message) const {
  flow::TaskResult result = TaskResultOf(call, TaskOutput::Failure(status, std::move(message)));
  const MutexLock lock(run->mutex);
  if (run->trace != nullptr) run->trace->Answered(result, time_.MonotonicNs());
  return {.event = std::move(result)};
}

std::optional<RunEvent> TaskCaller::Call(const LiveRunPtr& run, const flow::Call& call) {
  const auto found = run->app->routes.find(call.route);
  if (found == run->app->routes.end()) {
    return FailureOf(run, call.call, 500, fmt::format("Route {} not found", call.route));
  }
  const std::shared_ptr<Route>& route = found->second;
  Route::Slot* slot = route->TryEnter();
  if (slot == nullptr) {
    Route::Job job = [this, run, route, call](Route::Slot& free) {
      if (auto answer = RunOn(route, free, call, run)) on_answer_(run, std::move(*answer));
    };
    const auto entered = route->Enter(job);
    if (!entered) return FailureOf(run, call.call, 503, entered.error().message());
    if (*entered == nullptr) return std::nullopt;
    slot = *entered;
  }
  return RunOn(route, *slot, call, run);
}

bool TaskCaller::Begin(LiveRun& run, const flow::Call& call, Route::Slot& slot, bool made,
                       TaskInput* input, Span* span) {
  const MutexLock lock(run.mutex);
  // It may have waited for long.
  if (run.driver->gone() || (run.is_durable() && stopping_)) return false;
  // One that has waited is stopped in time all the same: the run gives it up.
  const uint64_t now_ms = run.driver->stepped_ms();
  if (call.due_ms != 0) input->timeout_ms = call.due_ms > now_ms ? call.due_ms - now_ms : 1;
  if (made) run.running.push_back({call.call, slot.instance.get(), input->cancelled});
  if (run.trace == nullptr) return true;
  run.trace->Began(call.call, input->now_ns);
  span->trace = run.trace;
  span->context = run.trace->ContextOf(call.call);
  input->trace = &span->context;
  return true;
}

std::optional<RunEvent> TaskCaller::RunOn(const std::shared_ptr<Route>& route, Route::Slot& slot,
                                          const flow::Call& call, const LiveRunPtr& run) {
  TaskInput input{.headers = call.headers, .body = call.body};
  input.cancelled = NewCancelled(slot);
  WriteSink sink;
  if (run->is_durable()) input.sink = &sink;
  input.streams = run->given_streams != nullptr ? run->given_streams.get() : &run->own_streams;
  input.route = route->name();
  input.cid = run->cid;
  input.trace_id = run->trace_id;
  const Status made = route->Prepare(slot);
  input.now_ns = time_.MonotonicNs();
  Span span;
  if (!Begin(*run, call, slot, made.ok(), &input, &span)) {
    Release(route, &slot);
    return std::nullopt;
  }
  const bool marked = made.ok() && run->is_durable() && slot.instance->runs_code();
  function::UnderWay::Slot under_way(marked ? under_way_ : nullptr, run->id);
  under_way.Begin(function::UnderWay::Kind::kRun, call.call, route->name());
  TaskOutput output = made.ok() ? route->Run(slot, input) : TaskOutput::Failure(made);
  under_way.End();
  const uint64_t ended_ns = time_.MonotonicNs();
  const uint64_t after_ms = output.answer_after_ms;
  std::optional<RunEvent> answer(std::in_place);
  answer->at_ns = ended_ns;
  if (run->is_durable()) {
    answer->answered = std::make_unique<AnsweredCall>(
        AnsweredCall{call, (ended_ns - input.now_ns) / 1000, output.repeatable, sink.TakeCommit()});
  }
  flow::TaskResult result = TaskResultOf(call.call, std::move(output));
  {
    const MutexLock lock(run->mutex);
    std::erase_if(run->running, [&](const auto& each) { return each.call == call.call; });
    if (made.ok()) slot.instance->Renew();  // nobody stops it from here on
    if (run->trace != nullptr && after_ms == 0) run->trace->Answered(result, ended_ns);
  }
  Release(route, &slot);
  answer->event = std::move(result);
  if (after_ms == 0) return answer;
  answer->at_ns = 0;
  AnswerLater(run, std::move(*answer), after_ms);
  return std::nullopt;
}

// A durable run that is stopped meanwhile calls the function again.
void TaskCaller::AnswerLater(const LiveRunPtr& run, RunEvent answer, uint64_t after_ms) {
  timers_.RunLater(timers_.NewLater(time_.NowMs() + after_ms),
                   [this, run, answer = std::move(answer)]() mutable {
                     {
                       const MutexLock lock(run->mutex);
                       if (run->trace != nullptr) {
                         run->trace->Answered(std::get<flow::TaskResult>(answer.event),
                                              time_.MonotonicNs());
                       }
                     }
                     on_answer_(run, std::move(answer));
                   });
}

void TaskCaller::Stop(LiveRun& run, uint64_t call) {
  const MutexLock lock(run.mutex);
  const auto found = std::ranges::find(run.running, call, &LiveRun::RunningCall::call);
  if (found == run.running.end()) return;
  found->cancelled->store(true);
  found->task->Stop();
}

void TaskCaller::StopAll(LiveRun& run) {
  const MutexLock lock(run.mutex);
  for (const LiveRun::RunningCall& call : run.running) {
    call.cancelled->store(true);
    call.task->Stop();
  }
}

void TaskCaller::Release(const std::shared_ptr<Route>& route, Route::Slot* slot) {
  std::optional<Route::Job> job = route->Leave(slot);
  if (!job) return;
  threads_.Post([route, slot, job = std::move(*job)]() mutable { job(*slot); });
}

}  // namespace sluice::flow_engine
