// Durable runs: steps that are commits, and how they are gone on with.
#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <thread>

#include "base/check.h"
#include "base/log.h"
#include "base/wait_scope.h"
#include "db/conflict_retry.h"
#include "flow/run_codec.h"
#include "flow_engine/engine_instance.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using Family = db::RowFamily;

// So long steps may be held back while the run goes on.
constexpr uint64_t kHoldMs = 50;

const flow::PendingCall* FindCall(const flow::Run& run, uint64_t id) {
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

// What is to be stored in a row of its own; else missing.
json::Value LargeInputOf(const flow::Run& run) {
  json::Value input = flow::RootInputOf(run);
  if (input.is_missing() || EncodeInput(input).size() <= kMostInputInMachine) return {};
  return input;
}

RunPhase PhaseAfter(const flow::RunState& state, const flow::Event& event) {
  if (std::holds_alternative<flow::Cancel>(event)) return RunPhase::kCancelled;
  return state.message.empty() ? RunPhase::kCompleted : RunPhase::kFailed;
}

}  // namespace

// A step of a copy of the run, which takes the run's place once it is stored.
Engine::Move Engine::Plan(Instance& instance, const flow::Event& event, Ran ran) {
  Instance::Stored& stored = *instance.stored;
  Move move{.next = instance.run,
            .actions = {},
            .head = stored.head,
            .machine = {},
            .steps = {},
            .now_ms = NowMs()};
  const auto* const result = std::get_if<flow::TaskResult>(&event);
  // What is due comes first, and may have ended the call that is answered.
  const std::optional<uint64_t> due_ms = instance.run.next_due_ms();
  if (due_ms && *due_ms <= move.now_ms) move.next.Step(flow::Tick{}, move.now_ms, &move.actions);
  move.taken = result == nullptr || FindCall(move.next, result->call) != nullptr;
  if (move.taken) move.next.Step(event, move.now_ms, &move.actions);
  move.machine.at_ms = move.now_ms;
  move.machine.next_step = stored.machine.next_step;
  if (stored.machine.text.empty()) stored.input = LargeInputOf(move.next);
  move.machine.text = flow::EncodeRun(
      move.next, stored.input.is_missing() ? flow::RootInput::kWith : flow::RootInput::kWithout);
  move.changed = move.machine.text != stored.machine.text;
  for (const flow::PendingCall& call : instance.run.state().calls) {
    if (FindCall(move.next, call.id) != nullptr) continue;
    const flow::Flow& flow = FlowOf(instance.run, call);
    const flow::Task& task = flow.tasks[static_cast<size_t>(call.task)];
    RunStep step;
    step.number = move.machine.next_step++;
    step.flow = flow.id;
    step.task = task.name;
    step.route = task.route;
    step.headers = call.headers;
    step.input = call.body;
    if (const auto sent = stored.sent_ms.find(call.id); sent != stored.sent_ms.end()) {
      step.sent_ms = sent->second;
    }
    step.ended_ms = move.now_ms;
    if (result != nullptr && result->call == call.id && move.taken) {
      step.end = result->status >= 400 ? StepEnd::kFailed : StepEnd::kDone;
      step.status = result->status;
      step.output_headers = result->headers;
      step.output = result->body;
      step.stack = result->stack;
      step.ran_us = ran.us;
    } else if (const auto* child = EndOf(move.actions, call.id)) {
      step.end = child->status >= 400 ? StepEnd::kFailed : StepEnd::kDone;
      step.status = child->status;
      step.output_headers = child->headers;
      step.output = child->body;
    } else if (call.due_ms != 0 && call.due_ms <= move.now_ms) {
      step.end = StepEnd::kTimedOut;
      step.status = 408;
    } else {
      step.end = StepEnd::kAbandoned;
    }
    move.steps.push_back(std::move(step));
  }
  if (stored.head.created_ms == 0) move.head.created_ms = move.now_ms;
  if (move.next.ended() && !instance.run.ended()) {
    const flow::RunState& state = move.next.state();
    move.head.phase = PhaseAfter(state, event);
    move.head.ended_ms = move.now_ms;
    move.head.status = state.status;
    move.head.message = state.message;
    move.head.steps = move.machine.next_step - 1;
  }
  return move;
}

void Engine::AddSteps(const Instance& instance, const Move& move, std::vector<db::RowWrite>* rows) {
  const std::string& id = move.head.id;
  for (const RunStep& step : move.steps) {
    rows->push_back({Family::kRun, StepKey(id, step.number),
                     EncodeStep(step, instance.stored->machine), std::nullopt});
    if (step.number <= kMaxKeptSteps) continue;
    rows->push_back(
        {Family::kRun, StepKey(id, step.number - kMaxKeptSteps), std::nullopt, std::nullopt});
  }
}

void Engine::AddRun(const Instance& instance, const RunHead& head, const RunMachine& machine,
                    db::Commit* commit) {
  const Instance::Stored& stored = *instance.stored;
  const auto put = [&](std::string key, std::optional<std::string> value) {
    commit->rows.push_back({Family::kRun, std::move(key), std::move(value), std::nullopt});
  };
  const bool missing = stored.first || stored.lost_rows;
  const bool ended = head.phase != RunPhase::kRunning;
  if (missing && !stored.input.is_missing()) put(InputKey(head.id), EncodeInput(stored.input));
  put(MachineKey(head.id), EncodeMachine(machine));
  if (missing || ended) put(HeadKey(head.id), EncodeHead(head));
  if (missing && !ended) put(LiveKey(head.id), "");
  if (!stored.first && ended) put(LiveKey(head.id), std::nullopt);
}

void Engine::Accept(Instance& instance, Move move, flow::Actions* actions) {
  Instance::Stored& stored = *instance.stored;
  for (const flow::PendingCall& call : instance.run.state().calls) {
    if (FindCall(move.next, call.id) == nullptr) stored.sent_ms.erase(call.id);
  }
  instance.run = std::move(move.next);
  instance.stepped_ms = move.now_ms;
  stored.head = std::move(move.head);
  stored.machine = std::move(move.machine);
  for (const flow::Action& action : move.actions) {
    if (const auto* call = std::get_if<flow::Call>(&action)) {
      stored.sent_ms[call->call] = move.now_ms;
    } else if (const auto* child = std::get_if<flow::SubflowBegan>(&action)) {
      stored.sent_ms[child->call] = move.now_ms;
    }
  }
  counts_.durable_steps += move.steps.size();
  NoteStep(instance, move.actions, time_.MonotonicNs());
  std::optional<uint64_t> due_ms = instance.run.next_due_ms();
  if (stored.hold_until_ms != 0) {
    due_ms = std::min(stored.hold_until_ms, due_ms.value_or(UINT64_MAX));
  }
  Schedule(instance, instance.run.ended() ? std::nullopt : due_ms);
  *actions = std::move(move.actions);
}

flow::Actions Engine::Submit(const InstancePtr& instance, Pending pending) {
  {
    const std::lock_guard lock(instance->mutex);
    if (instance->stored->parked) return {};
    instance->stored->waiting.push_back(std::move(pending));
    if (std::exchange(instance->stored->busy, true)) return {};
  }
  return NextStep(instance);
}

// Who calls it has made the run busy.
flow::Actions Engine::NextStep(const InstancePtr& instance) {
  flow::Actions calls;
  const std::lock_guard lock(instance->mutex);
  Instance::Stored& stored = *instance->stored;
  bool hold = false;
  while (!stored.waiting.empty()) {
    Pending pending = std::move(stored.waiting.front());
    stored.waiting.pop_front();
    if (IsOver(*instance, pending)) {
      if (pending.stored) pending.stored(nullptr);
      continue;
    }
    Move move = Plan(*instance, pending.event, pending.ran);
    db::Commit commit;
    if (move.taken) commit = std::move(pending.commit);
    if (commit.writes.empty() && commit.rows.empty()) pending.call.reset();
    const bool changed = move.changed || pending.again;
    // A commit of the run's own rows alone is never refused for what others do, and those of one
    // shard are stored in order. So what follows may begin before it is stored; only what others
    // see of it waits.
    const bool ahead = !pending.call && !pending.stored && database_.shard_count() == 1;
    if (changed && !ahead) {
      if (stored.hold_until_ms != 0) StoreHeld(instance, {});
      AddSteps(*instance, move, &commit.rows);
      AddRun(*instance, move.head, move.machine, &commit);
      SubmitCommit(instance, std::move(pending), std::move(move), std::move(commit));
      return calls;
    }
    hold = changed && MayHold(pending, move);
    if (changed) AddSteps(*instance, move, &stored.kept_back);
    if (hold && stored.hold_until_ms == 0) stored.hold_until_ms = move.now_ms + kHoldMs;
    flow::Actions actions;
    Accept(*instance, std::move(move), &actions);
    if (!changed && pending.stored) pending.stored(&actions);
    flow::Actions later = std::move(pending.later);
    for (flow::Action& action : actions) {
      const bool at_once = !changed || std::holds_alternative<flow::Call>(action);
      (at_once ? calls : later).push_back(std::move(action));
    }
    if (changed && !hold) StoreHeld(instance, std::move(later));
  }
  if (stored.hold_until_ms != 0 && !hold) StoreHeld(instance, {});
  stored.busy = false;
  return calls;
}

// Nothing has happened but that a function is to be called, and the last one can be called again.
bool Engine::MayHold(const Pending& pending, const Move& move) {
  const bool repeatable =
      std::holds_alternative<flow::Start>(pending.event) ||
      (std::holds_alternative<flow::TaskResult>(pending.event) && pending.ran.repeatable);
  return repeatable && !pending.again && pending.later.empty() && move.actions.size() == 1 &&
         std::holds_alternative<flow::Call>(move.actions.front());
}

void Engine::StoreHeld(const InstancePtr& instance, flow::Actions later) {
  Instance::Stored& stored = *instance->stored;
  db::Commit commit;
  commit.rows = std::exchange(stored.kept_back, {});
  stored.hold_until_ms = 0;
  AddRun(*instance, stored.head, stored.machine, &commit);
  stored.first = stored.lost_rows = false;
  SubmitAhead(instance, std::move(later), std::move(commit));
}

void Engine::StopHolding(const InstancePtr& instance) {
  const std::lock_guard lock(instance->mutex);
  if (instance->stored->hold_until_ms != 0) StoreHeld(instance, {});
}

bool Engine::IsOver(const Instance& instance, const Pending& pending) {
  if (pending.again) return false;
  if (instance.run.ended()) return true;
  // What was written for an answer that nobody waits for is not stored either.
  const auto* const result = std::get_if<flow::TaskResult>(&pending.event);
  return result != nullptr && FindCall(instance.run, result->call) == nullptr;
}

void Engine::SubmitCommit(const InstancePtr& instance, Pending pending, Move move,
                          db::Commit commit) {
  ++storing_;
  auto step = std::make_shared<std::pair<Pending, Move>>(std::move(pending), std::move(move));
  database_.Submit(std::move(commit), [this, instance, step](db::CommitResult made) {
    pool_.Post([this, instance, step, status = std::move(made.status)] {
      Stored(instance, std::move(step->first), std::move(step->second), status);
    });
    --storing_;
  });
}

// The run answers and ends, which the thread that has stored it may as well do: handing it to
// another one takes longer. That is the database's, which has no time to write to a log, or for the
// end of the last run of an app, and so of its functions.
bool Engine::OnlyAnswers(const Instance& instance, const flow::Actions& actions) {
  const auto answers = [](const flow::Action& action) {
    return std::holds_alternative<flow::Respond>(action) ||
           std::holds_alternative<flow::Ended>(action);
  };
  if (actions.empty() || instance.listened != nullptr || instance.app.use_count() == 1) {
    return false;
  }
  const auto* const ended = std::get_if<flow::Ended>(&actions.back());
  return ended != nullptr && ended->status < 400 && std::ranges::all_of(actions, answers);
}

void Engine::SubmitAhead(const InstancePtr& instance, flow::Actions later, db::Commit commit) {
  ++storing_;
  ++instance->stored->ahead;
  auto kept = std::make_shared<flow::Actions>(std::move(later));
  database_.Submit(std::move(commit), [this, instance, kept](db::CommitResult made) {
    if (!made.status.ok()) {
      pool_.Post([this, instance, kept, status = std::move(made.status)] {
        StoreAgain(instance, std::move(*kept), status);
        --instance->stored->ahead;
      });
    } else if (OnlyAnswers(*instance, *kept)) {
      --instance->stored->ahead;
      Do(instance, std::move(*kept), nullptr);
    } else {
      const bool last = --instance->stored->ahead == 0;
      if (!kept->empty() || (last && instance->stored->wants_park.exchange(false))) {
        pool_.Post([this, instance, kept] { Perform(instance, std::move(*kept)); });
      }
    }
    --storing_;
  });
}

// The run is further than what is stored, until it is.
void Engine::StoreAgain(const InstancePtr& instance, flow::Actions later, const Status& status) {
  constexpr std::chrono::milliseconds kPause(100);
  log::Error("a step of a run can't be stored",
             {{"run", instance->id}, {"error", status.ToString()}});
  if (stopping_) return;
  {
    const WaitScope waits;
    std::this_thread::sleep_for(kPause);
  }
  {
    const std::lock_guard lock(instance->mutex);
    instance->stored->lost_rows = true;
  }
  Pending pending{.event = flow::Tick{}};
  pending.again = true;
  pending.later = std::move(later);
  Perform(instance, Submit(instance, std::move(pending)));
}

void Engine::Stored(const InstancePtr& instance, Pending pending, Move move, const Status& status) {
  if (!status.ok()) return NotStored(instance, std::move(pending), status);
  flow::Actions actions;
  bool more = false;
  {
    const std::lock_guard lock(instance->mutex);
    instance->stored->first = instance->stored->lost_rows = false;
    Accept(*instance, std::move(move), &actions);
    if (pending.stored) pending.stored(&actions);
    more = !instance->stored->waiting.empty();
    if (!more) instance->stored->busy = false;
  }
  if (more) pool_.Post([this, instance] { Perform(instance, NextStep(instance)); });
  Perform(instance, std::move(actions));
}

// The run stays as it is stored until the database takes the step.
void Engine::NotStored(const InstancePtr& instance, Pending pending, const Status& status) {
  constexpr std::chrono::milliseconds kPause(100);
  if (pending.call && status.code() == Code::kConflict &&
      pending.attempt < db::ConflictRetry::kMostAttempts) {
    // Somebody else changed what the function had read: it is called again.
    pool_.Post([this, instance] { Perform(instance, NextStep(instance)); });
    {
      const WaitScope waits;
      std::this_thread::sleep_for(db::ConflictRetry::PauseAfter(pending.attempt));
    }
    if (auto next = RunCall(instance, *pending.call, pending.attempt + 1)) {
      Perform(instance, std::move(*next));
    }
    return;
  }
  if (pending.call) {
    const TaskOutput output = TaskOutput::Failure(status);
    pending.event = flow::TaskResult{.call = pending.call->call,
                                     .status = output.status,
                                     .headers = output.headers,
                                     .body = output.body,
                                     .stack = {}};
    pending.call.reset();
  } else {
    log::Error("a step of a run can't be stored",
               {{"run", instance->id}, {"error", status.ToString()}});
    if (stopping_) {
      if (pending.stored) pending.stored(nullptr);
      return;
    }
    const WaitScope waits;
    std::this_thread::sleep_for(kPause);
  }
  {
    const std::lock_guard lock(instance->mutex);
    instance->stored->waiting.push_front(std::move(pending));
  }
  Perform(instance, NextStep(instance));
}

void Engine::AddLive(const InstancePtr& instance) {
  const std::lock_guard lock(live_mutex_);
  live_.emplace(instance->id, instance);
}

Result<std::vector<std::string>> Engine::LaunchAll(std::vector<Launch> launches,
                                                   db::Commit commit) {
  if (running_ + launches.size() > options_.max_runs || stopping_) {
    return ::sluice::Fail(Code::kOverloaded, "flow.overloaded",
                          "{} runs are in memory; at most {} may be", running_.load(),
                          options_.max_runs);
  }
  std::vector<std::pair<InstancePtr, Move>> begun;
  std::vector<std::string> ids;
  for (Launch& launch : launches) {
    InstancePtr instance =
        NewInstance(launch.app, &launch.start, nullptr, launch.origin, launch.trace);
    CHECK(instance->durable());
    Move move = Plan(*instance, launch.start, {});
    AddSteps(*instance, move, &commit.rows);
    AddRun(*instance, move.head, move.machine, &commit);
    ids.push_back(instance->id);
    begun.emplace_back(std::move(instance), std::move(move));
  }
  RETURN_IF_ERROR(database_.Apply(std::move(commit)).status);
  for (auto& [instance, move] : begun) {
    ++running_;
    AddLive(instance);
    flow::Actions actions;
    {
      const std::lock_guard lock(instance->mutex);
      instance->stored->first = false;
      Accept(*instance, std::move(move), &actions);
    }
    pool_.Post([this, instance, actions = std::move(actions)]() mutable {
      Perform(instance, std::move(actions));
    });
  }
  return ids;
}

// Whether it waits for nothing but a time that is far away, and nobody for it.
bool Engine::CanPark(const Instance& instance) {
  const Instance::Stored& stored = *instance.stored;
  if (instance.run.ended() || instance.reply != nullptr || instance.answer_by_ms != 0) return false;
  if (stored.busy || stored.parked || !stored.waiting.empty() || !instance.running.empty()) {
    return false;
  }
  const auto waits = [](const flow::PendingCall& call) {
    return call.child != 0 || call.send_ms != 0;
  };
  if (!std::ranges::all_of(instance.run.state().calls, waits)) return false;
  const std::optional<uint64_t> due_ms = instance.run.next_due_ms();
  return due_ms && *due_ms > NowMs() + options_.park_after_ms && instance.own_streams.empty() &&
         instance.given_streams == nullptr;
}

// Takes a run out of the memory: it is as it is stored.
void Engine::MaybePark(const InstancePtr& instance) {
  if (options_.park_after_ms == 0 || park_ == nullptr || stopping_) return;
  Instance::Stored& stored = *instance->stored;
  {
    const std::lock_guard lock(instance->mutex);
    if (!CanPark(*instance)) return;
    stored.wants_park = true;
  }
  if (stored.ahead != 0) return;
  uint64_t due_ms = 0;
  {
    const std::lock_guard live(live_mutex_);
    const std::lock_guard lock(instance->mutex);
    if (stored.held != 0 || stored.ahead != 0 || !CanPark(*instance)) return;
    if (live_.erase(instance->id) == 0) return;
    stored.parked = true;
    due_ms = *instance->run.next_due_ms();
    Schedule(*instance, std::nullopt);
  }
  --running_;
  park_(instance->id, due_ms);
}

void Engine::Forget(const InstancePtr& instance) {
  const std::lock_guard lock(live_mutex_);
  live_.erase(instance->id);
}

Status Engine::Resume(std::shared_ptr<const App> app, const StoredRun& run,
                      std::vector<GivenUpCall> given_up) {
  const RunHead& head = run.head;
  auto instance = std::make_shared<Instance>(std::move(app), head.id, nullptr);
  ASSIGN_OR_RETURN(const json::Value state, json::Parse(run.machine.text));
  ASSIGN_OR_RETURN(instance->run, flow::DecodeRun(state, instance->app->flows,
                                                  instance->app->files.get(), run.input));
  // The clock was set back while no server ran: what was left of its times is what is left.
  const uint64_t now_ms = NowMs();
  if (run.machine.at_ms > now_ms) {
    instance->run.Postpone(-static_cast<int64_t>(run.machine.at_ms - now_ms));
  }
  instance->cid = instance->run.state().cid;
  instance->trace_id = instance->run.state().trace;
  instance->stored = std::make_unique<Instance::Stored>();
  instance->stored->first = false;
  instance->stored->head = head;
  instance->stored->machine = run.machine;
  instance->stored->input = run.input;
  std::vector<flow::Call> open = instance->run.OpenCalls();
  BeginTrace(*instance, head.flow, head.origin, {.id = head.trace});
  if (instance->trace != nullptr) {
    instance->trace->Note(flow::Actions(open.begin(), open.end()), time_.MonotonicNs());
  }
  for (const flow::Call& call : open) instance->stored->sent_ms[call.call] = now_ms;
  std::vector<std::pair<flow::Call, std::string>> failed;
  for (GivenUpCall& each : given_up) {
    const auto found = std::ranges::find(open, each.call, &flow::Call::call);
    if (found == open.end()) continue;
    failed.emplace_back(std::move(*found), std::move(each.why));
    open.erase(found);
  }
  {
    const std::lock_guard lock(live_mutex_);
    if (!live_.emplace(head.id, instance).second) return OkStatus();
  }
  ++running_;
  ++counts_.durable_resumed;
  // What was being called is called again, unless its time is over.
  auto again = [instance = instance.get(), open = std::move(open)](flow::Actions* actions) {
    if (actions == nullptr) return;
    for (const flow::Call& call : open) {
      if (FindCall(instance->run, call.call) != nullptr) actions->emplace_back(call);
    }
  };
  pool_.Post([this, instance, again = std::move(again), failed = std::move(failed)] {
    Perform(instance, Submit(instance, {.event = flow::Tick{}, .stored = again}));
    for (const auto& [call, why] : failed) {
      if (auto next = Fail(instance, call, 500, why)) Perform(instance, std::move(*next));
    }
  });
  return OkStatus();
}

bool Engine::Cancel(const std::string& id) {
  InstancePtr instance;
  {
    const std::lock_guard lock(live_mutex_);
    const auto found = live_.find(id);
    if (found == live_.end()) return false;
    instance = found->second;
    ++instance->stored->held;
  }
  std::promise<void> done;
  Perform(instance, Submit(instance, {.event = flow::Cancel{},
                                      .stored = [&](flow::Actions*) { done.set_value(); }}));
  done.get_future().wait();
  const std::lock_guard lock(live_mutex_);
  --instance->stored->held;
  return true;
}

bool Engine::IsLive(const std::string& id) const {
  const std::lock_guard lock(live_mutex_);
  return live_.contains(id);
}

size_t Engine::running_durable() const {
  const std::lock_guard lock(live_mutex_);
  return live_.size();
}

std::set<std::string> Engine::LiveApps() const {
  std::set<std::string> apps;
  const std::lock_guard lock(live_mutex_);
  for (const auto& [id, instance] : live_) apps.insert(instance->app->version);
  return apps;
}

}  // namespace sluice::flow_engine
