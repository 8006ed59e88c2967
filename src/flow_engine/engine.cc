#include "flow_engine/engine.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/random.h"
#include "flow_engine/engine_instance.h"
#include "outbox/flow_request.h"

namespace sluice::flow_engine {

Engine::Engine(db::Database& database, const Clock& clock, EngineOptions options)
    : database_(database),
      time_(clock),
      options_(std::move(options)),
      traces_(options_.traces),
      pool_("flows", options_.max_threads) {
  timer_thread_ = Thread({"flow timer"}, [this] { TimerLoop(); });
}

Engine::~Engine() { Stop(); }

void Engine::Stop() {
  if (stopping_.exchange(true)) return;
  { const std::lock_guard lock(timer_mutex_); }
  timer_wake_.notify_all();
  timer_thread_.join();
  std::set<std::pair<uint64_t, InstancePtr>> timers;
  {
    const std::lock_guard lock(timer_mutex_);
    timers.swap(timers_);
    for (const auto& [due_ms, instance] : timers) instance->due_ms = 0;
  }
  for (const auto& [due_ms, instance] : timers) {
    if (!instance->durable()) Drive(instance, flow::Cancel{}, {});
  }
  timers.clear();
  std::map<std::string, InstancePtr, std::less<>> live;
  {
    const std::lock_guard lock(live_mutex_);
    live = live_;
  }
  // What still runs is stored when it is over.
  for (const auto& [id, instance] : live) {
    Respond(instance, {.status = 503,
                       .headers = {},
                       .body = json::Value("The server stops; the run goes on when it starts")});
  }
  pool_.Stop();
  while (lent_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // The database tells of steps on a thread of its own.
  while (storing_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::lock_guard lock(live_mutex_);
  live_.clear();
}

Engine::Handle Engine::Start(std::shared_ptr<const App> app, flow::Start start, ReplyTo reply,
                             std::string_view origin, uint64_t answer_within_ms,
                             RunContext context) {
  if (running_ >= options_.max_runs || stopping_) {
    reply({.status = 503, .body = json::Value("Too many flows are running")});
    return {};
  }
  InstancePtr instance =
      NewInstance(std::move(app), &start, std::move(reply), origin, std::move(context.trace));
  instance->given_streams = std::move(context.streams);
  ++running_;
  if (instance->durable()) AddLive(instance);
  if (instance->durable() && answer_within_ms != 0) {
    const std::lock_guard lock(instance->mutex);
    instance->answer_by_ms = NowMs() + answer_within_ms;
    Schedule(*instance, std::nullopt);
  }
  Begin(context, [this, instance, start = std::move(start)]() mutable {
    Drive(instance, std::move(start), {});
  });
  return instance;
}

namespace {

// Counts a job from when it is lent until it is gone.
class Lent {
 public:
  Lent(std::atomic<size_t>& count, Pool::Job job) : count_(&count), job_(std::move(job)) {
    ++*count_;
  }
  Lent(Lent&& other) noexcept
      : count_(std::exchange(other.count_, nullptr)), job_(std::move(other.job_)) {}
  ~Lent() {
    job_ = nullptr;
    if (count_ != nullptr) --*count_;
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  void operator()() { job_(); }

 private:
  std::atomic<size_t>* count_;
  Pool::Job job_;
};

}  // namespace

void Engine::Begin(const RunContext& context, Pool::Job job) {
  if (context.run) {
    context.run(Lent(lent_, std::move(job)));
  } else if (context.pool != nullptr) {
    context.pool->Post(Lent(lent_, std::move(job)));
  } else {
    pool_.Post(std::move(job));
  }
}

Engine::InstancePtr Engine::NewInstance(std::shared_ptr<const App> app, flow::Start* start,
                                        ReplyTo reply, std::string_view origin, TraceLink trace) {
  const flow::Flow* const flow = app->flows->Find(start->flow);
  const bool durable = flow != nullptr && flow->durable;
  if (start->run.empty()) start->run = durable ? outbox::NewRunId(NowMs()) : NewUuid();
  auto instance = std::make_shared<Instance>(std::move(app), start->run, std::move(reply));
  instance->cid = start->cid;
  instance->trace_id = start->trace;
  ++counts_.started;
  const std::string trace_id = trace.id;
  BeginTrace(*instance, start->flow, origin, std::move(trace));
  if (!durable) return instance;
  ++counts_.durable_started;
  instance->stored = std::make_unique<Instance::Stored>();
  RunHead& head = instance->stored->head;
  head.id = start->run;
  head.flow = start->flow;
  head.app = instance->app->version;
  head.origin = std::string(origin);
  head.cid = start->cid;
  head.trace = trace_id;
  return instance;
}

void Engine::BeginTrace(Instance& instance, std::string_view flow, std::string_view origin,
                        TraceLink link) const {
  instance.listened = ListenedFlow(*instance.app, flow, origin);
  if (link.tracing == Tracing::kOff) return;
  if (options_.traces == 0 && options_.exporter == nullptr && link.id.empty() &&
      instance.listened == nullptr) {
    return;
  }
  const uint64_t now_ns = time_.MonotonicNs();
  instance.trace = std::make_shared<RunTrace>(RunTrace::Head{.run = instance.id,
                                                             .flow = std::string(flow),
                                                             .origin = std::string(origin),
                                                             .link = std::move(link),
                                                             .wall_ns = time_.WallNsAt(now_ns),
                                                             .monotonic_ns = now_ns},
                                              instance.app->flows);
}

// What the run was told and has asked for; at its end the trace is complete.
void Engine::NoteStep(Instance& instance, const flow::Actions& actions, uint64_t now_ns) {
  if (instance.trace == nullptr) return;
  instance.trace->Note(actions, now_ns);
  if (!instance.run.ended()) return;
  instance.trace->Finish(instance.run.state(), now_ns);
  const TracePtr trace = std::exchange(instance.trace, nullptr);
  if (instance.listened != nullptr) instance.finished = trace;
  traces_.Add(trace);
  if (options_.exporter) options_.exporter(trace);
}

void Engine::Abandon(const Handle& handle) {
  const InstancePtr instance = handle.lock();
  if (instance == nullptr || instance->durable()) return;
  {
    const std::lock_guard lock(instance->mutex);
    if (instance->run.ended()) return;
  }
  log::Info("a client has gone; the server cancels its flow", {{"run", instance->id}});
  pool_.Post([this, instance] {
    Drive(instance, flow::Cancel{.status = 499, .message = "The client has gone"}, {});
  });
}

void Engine::Drive(const InstancePtr& instance, flow::Event event, Ran ran) {
  if (instance->durable()) {
    return Perform(instance, Submit(instance, {.event = std::move(event), .ran = ran}));
  }
  flow::Actions actions;
  {
    const std::lock_guard lock(instance->mutex);
    if (!Advance(*instance, std::move(event), time_.MonotonicNs(), &actions)) return;
  }
  Perform(instance, std::move(actions));
}

bool Engine::Advance(Instance& instance, flow::Event event, uint64_t now_ns,
                     flow::Actions* actions) {
  if (instance.run.ended()) return false;
  instance.stepped_ms = time_.MsAt(now_ns);
  instance.run.Step(std::move(event), instance.stepped_ms, actions);
  NoteStep(instance, *actions, now_ns);
  Schedule(instance, instance.run.ended() ? std::nullopt : instance.run.next_due_ms());
  return true;
}

void Engine::Perform(const InstancePtr& instance, flow::Actions actions) {
  while (true) {
    std::optional<flow::Call> inline_call;
    Do(instance, std::move(actions), &inline_call);
    // A durable run goes on when the server starts again.
    if (!inline_call && instance->durable()) return MaybePark(instance);
    if (!inline_call) return;
    if (instance->durable() && stopping_) return StopHolding(instance);
    std::optional<flow::Actions> next = RunCall(instance, *inline_call);
    if (!next && instance->durable()) return StopHolding(instance);
    if (!next) return;
    actions = std::move(*next);
  }
}

void Engine::Do(const InstancePtr& instance, flow::Actions actions,
                std::optional<flow::Call>* inline_call) {
  for (flow::Action& action : actions) {
    if (auto* call = std::get_if<flow::Call>(&action)) {
      if (inline_call != nullptr && !*inline_call) {
        inline_call->emplace(std::move(*call));
        continue;
      }
      pool_.Post([this, instance, call = std::move(*call)] {
        if (auto next = RunCall(instance, call)) Perform(instance, std::move(*next));
      });
    } else if (auto* send = std::get_if<flow::Send>(&action)) {
      Send(instance, *send);
    } else if (auto* respond = std::get_if<flow::Respond>(&action)) {
      Respond(instance, std::move(*respond));
    } else if (auto* line = std::get_if<flow::LogLine>(&action)) {
      log::Write(line->level, "a flow logs",
                 {{"flow", line->flow}, {"run", instance->id}, {"line", line->message}});
    } else if (auto* abandon = std::get_if<flow::Abandon>(&action)) {
      StopCall(instance, abandon->call);
    } else if (auto* ended = std::get_if<flow::Ended>(&action)) {
      Ended(instance, *ended);
    }
  }
}

void Engine::Respond(const InstancePtr& instance, flow::Respond respond) {
  ReplyTo reply;
  {
    const std::lock_guard lock(instance->mutex);
    reply = std::exchange(instance->reply, nullptr);
    instance->answer_by_ms = 0;
  }
  if (!reply) return;
  reply({.status = respond.status,
         .headers = std::move(respond.headers),
         .body = std::move(respond.body),
         .run = instance->durable() ? instance->id : "",
         .streams = instance->streams()});
}

void Engine::RespondIfLate(const InstancePtr& instance) {
  {
    const std::lock_guard lock(instance->mutex);
    if (instance->answer_by_ms == 0 || instance->answer_by_ms > NowMs()) return;
  }
  Respond(instance, {.status = 408,
                     .headers = {},
                     .body = json::Value(fmt::format("Not done in time; run {} of the flow goes on",
                                                     instance->id))});
}

void Engine::StopCall(const InstancePtr& instance, uint64_t call) {
  const std::lock_guard lock(instance->mutex);
  const auto found = std::ranges::find(instance->running, call, &Instance::Running::call);
  if (found == instance->running.end()) return;
  found->cancelled->store(true);
  found->task->Stop();
}

void Engine::Ended(const InstancePtr& instance, const flow::Ended& ended) {
  --running_;
  ++(ended.message.empty() ? counts_.completed : counts_.failed);
  if (instance->listened != nullptr) TellListeners(instance, ended);
  if (!instance->durable()) return;
  if (ended.status >= 400 && instance->stored->head.origin == kAutostartOrigin) {
    LogAutostartFailure(instance->stored->head.flow, ended.status, ended.message);
  }
  Forget(instance);
}

void Engine::Schedule(Instance& instance, std::optional<uint64_t> due_ms) {
  uint64_t due = due_ms.value_or(0);
  if (instance.answer_by_ms != 0 && (due == 0 || instance.answer_by_ms < due)) {
    due = instance.answer_by_ms;
  }
  if (instance.scheduled_ms == due) return;
  instance.scheduled_ms = due;
  bool wake = false;
  {
    const std::lock_guard lock(timer_mutex_);
    if (instance.due_ms == due || stopping_) return;
    const InstancePtr shared = instance.shared_from_this();
    if (instance.due_ms != 0) timers_.erase({instance.due_ms, shared});
    instance.due_ms = due;
    if (due == 0) return;
    timers_.emplace(due, shared);
    wake = MustWakeFor(due);
  }
  if (wake) timer_wake_.notify_one();
}

bool Engine::MustWakeFor(uint64_t due_ms) {
  if (due_ms >= timer_wakes_ms_) return false;
  timer_wakes_ms_ = due_ms;
  return true;
}

void Engine::RunLater(LaterId id, std::function<void()> run) {
  bool wake = false;
  {
    const std::lock_guard lock(timer_mutex_);
    later_.emplace(id, std::move(run));
    wake = MustWakeFor(id.first);
  }
  if (wake) timer_wake_.notify_one();
}

void Engine::Drop(LaterId id) {
  const std::lock_guard lock(timer_mutex_);
  later_.erase(id);
}

void Engine::TimerLoop() {
  constexpr uint64_t kLongestMs = 1000;
  std::unique_lock lock(timer_mutex_);
  while (!stopping_) {
    time_.Adjust();
    const uint64_t now_ms = NowMs();
    uint64_t due_ms = now_ms + kLongestMs;
    if (!timers_.empty()) due_ms = std::min(due_ms, timers_.begin()->first);
    if (!later_.empty()) due_ms = std::min(due_ms, later_.begin()->first.first);
    if (due_ms > now_ms) {
      timer_wakes_ms_ = due_ms;
      timer_wake_.wait_for(lock, std::chrono::milliseconds(due_ms - now_ms));
      continue;
    }
    if (!later_.empty() && later_.begin()->first.first <= now_ms) {
      const auto run = later_.extract(later_.begin());
      lock.unlock();
      pool_.Post(run.mapped());
      lock.lock();
      continue;
    }
    const InstancePtr instance = timers_.begin()->second;
    instance->due_ms = 0;
    timers_.erase(timers_.begin());
    lock.unlock();
    pool_.Post([this, instance] {
      {
        const std::lock_guard its(instance->mutex);
        instance->scheduled_ms = 0;
      }
      RespondIfLate(instance);
      Drive(instance, flow::Tick{}, {});
    });
    lock.lock();
  }
}

}  // namespace sluice::flow_engine
