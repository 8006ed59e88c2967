// The loop around the drivers. Everything that happens to a run comes here as a RunEvent: its
// start, the answer of a function, a tick of its timer, a cancel. The way of an event:
//
//   Happened -> TellDriver -> AskDriver   under the run's mutex: the driver steps the machine, its
//                                         commits are submitted, its timer is set
//            -> CarryOut                  without the mutex: answers, calls, logs
//
// CarryOut calls the first function of a step on its own thread and goes on with the answer in a
// loop, so a flow whose functions follow each other leaves the thread only to store a step of a
// durable run. Further functions of the step go to the pool. The result of a commit comes back
// through StepStore, on another thread, and takes the same way with OnStored in place of OnEvent.
//
// Two threads may carry out outcomes of one run at the same time. That is sound because the mutex
// puts the decisions in order, and the driver never gives out the same action twice.
#include "flow_engine/engine.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/log.h"
#include "base/random.h"
#include "flow_engine/durable_driver.h"
#include "flow_engine/memory_driver.h"
#include "outbox/flow_request.h"

namespace sluice::flow_engine {
namespace {

constexpr uint64_t kTellTimeoutMs = 30'000;

uint64_t RandomNumber() {
  const std::string bytes = IdentifierBytes(sizeof(uint64_t));
  uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

ReplyTo LogIfRefused(std::string_view id, std::string_view target) {
  return [id, target = std::string(target)](const Reply& reply) {
    if (reply.status < 400) return;
    log::Warn("a route refused the message of a flow",
              {{"error", fmt::format("{}: {} answered {}", id, target, reply.status)},
               {"route", target}});
  };
}

}  // namespace

void LogAutostartFailure(std::string_view target, int status, std::string_view message) {
  const Status why = Error(Code::kInternal, "flow.autostart_failed", "{} answered {}: {}", target,
                           status, message);
  log::Error("an autostart failed", {{"error", why.ToString()}});
}

Engine::Engine(db::Database& database, const Clock& clock, EngineOptions options)
    : database_(database),
      time_(clock),
      options_(std::move(options)),
      first_writer_(RandomNumber()),
      answers_(time_, options_.traces, options_.exporter, counts_.durable_steps),
      files_(database),
      threads_(options_.max_threads),
      timers_(time_, threads_,
              [this](const LiveRunPtr& run) {
                answers_.RespondIfLate(*run, NowMs());
                Happened(run, {.event = flow::Tick{}});
              }),
      store_(database, threads_,
             [this](const LiveRunPtr& run, uint64_t number, StoreResult result) {
               CarryOut(run, AskDriver(run, Now(), [&](RunDriver& driver, RunTime now) {
                          return driver.OnStored(number, std::move(result), now);
                        }));
             }),
      tasks_(time_, threads_, timers_, options_.under_way,
             [this](const LiveRunPtr& run, RunEvent answer) { Happened(run, std::move(answer)); }),
      calls_(time_, threads_, timers_, tasks_) {}

Engine::~Engine() { Stop(); }

void Engine::Stop() {
  if (stopping_.exchange(true)) return;
  tasks_.StopDurable();
  std::set<std::shared_ptr<const App>> apps;
  for (const LiveRunPtr& run : timers_.Stop()) {
    apps.insert(run->app);
    if (!run->is_durable()) Happened(run, {.event = flow::Cancel{}});
  }
  // Functions that still run end by themselves, and their steps are stored.
  for (const LiveRunPtr& run : live_.All()) {
    apps.insert(run->app);
    answers_.Respond(*run,
                     {.status = 503,
                      .headers = {},
                      .body = json::Value("The server stops; the run goes on when it starts")});
  }
  threads_.Stop();
  // A call that waits for an instance holds its run, which holds the app of the instance.
  for (const auto& app : apps) {
    for (const auto& [name, route] : app->routes) route->DropWaiting();
  }
  store_.Wait();
  live_.Clear();
}

// --- starting -----------------------------------------------------------------------------------

Engine::Handle Engine::Start(std::shared_ptr<const App> app, flow::Start start, ReplyTo reply,
                             std::string_view origin, uint64_t answer_within_ms,
                             RunContext context) {
  if (full() || stopping_) {
    reply({.status = 503, .body = json::Value("Too many flows are running")});
    return {};
  }
  const flow::Flow* const flow = app->flows->Find(start.flow);
  const bool durable = flow != nullptr && flow->durable;
  const std::set<db::ShardId> shards = durable ? live_.shards() : std::set<db::ShardId>();
  if (durable && shards.empty()) {
    reply({.status = 503, .body = json::Value("This server owns no shard for a durable flow")});
    return {};
  }
  LiveRunPtr run =
      NewRun(std::move(app), &start, std::move(reply), origin, std::move(context.trace), shards);
  run->given_streams = std::move(context.streams);
  Count(*run);
  // Its shard is lost at this moment.
  if (durable && !live_.Add(run)) {
    LeaveToOther(run);
    return run;
  }
  if (run->is_durable() && answer_within_ms != 0) {
    const MutexLock lock(run->mutex);
    run->answer_by_ms = NowMs() + answer_within_ms;
    timers_.Set(*run, run->answer_by_ms);
  }
  threads_.Begin(context, [this, run, start = std::move(start)]() mutable {
    Happened(run, {.event = std::move(start)});
  });
  return run;
}

LiveRunPtr Engine::NewRun(std::shared_ptr<const App> app, flow::Start* start, ReplyTo reply,
                          std::string_view origin, TraceLink trace,
                          const std::set<db::ShardId>& shards) {
  const flow::Flow* const flow = app->flows->Find(start->flow);
  const bool durable = flow != nullptr && flow->durable;
  const bool new_id = start->run.empty();
  if (new_id) {
    start->run = durable ? outbox::NewRunId(database_, NowMs(), shards) : NewUuid();
  }
  auto run =
      std::make_shared<LiveRun>(std::move(app), start->run, std::move(reply), answers_, files_);
  run->cid = start->cid;
  run->trace_id = start->trace;
  run->origin = std::string(origin);
  ++counts_.started;
  flow::Run machine(run->app->flows, run->app->files.get());
  const MutexLock lock(run->mutex);
  if (!durable) {
    answers_.BeginTrace(*run, start->flow, std::move(trace));
    run->driver = std::make_unique<MemoryDriver>(std::move(machine), *run, *run);
    return run;
  }
  ++counts_.durable_started;
  run->shard = database_.ShardOfKey(run->id);
  RunHead head;
  head.id = start->run;
  head.flow = start->flow;
  head.app = run->app->version;
  head.origin = run->origin;
  head.cid = start->cid;
  head.trace = trace.id;
  answers_.BeginTrace(*run, start->flow, std::move(trace));
  auto driver = std::make_unique<DurableDriver>(
      std::move(machine), std::move(head), DurableOptions{.writer = NewWriter(), .new_id = new_id},
      *run, *run);
  run->durable = driver.get();
  run->driver = std::move(driver);
  return run;
}

void Engine::Abandon(const Handle& handle) {
  const LiveRunPtr run = handle.lock();
  if (run == nullptr || run->is_durable()) return;
  {
    const MutexLock lock(run->mutex);
    if (run->driver->gone()) return;
  }
  log::Info("a client has gone; its flow is cancelled", {{"run", run->id}});
  threads_.Post([this, run] {
    Happened(run, {.event = flow::Cancel{.status = 499, .message = "The client has gone"}});
  });
}

void Engine::Call(std::shared_ptr<const App> app, const std::string& route, json::Value headers,
                  json::Value body, uint64_t timeout_ms, ReplyTo reply, RunContext context) {
  calls_.Call(std::move(app), route, std::move(headers), std::move(body), timeout_ms,
              std::move(reply), std::move(context));
}

void Engine::Tell(std::shared_ptr<const App> app, std::string_view target, json::Value headers,
                  json::Value body, uint64_t timeout_ms, std::string_view origin, TraceLink trace,
                  ReplyTo done) {
  constexpr std::string_view kFlow = "flow://";
  if (!target.starts_with(kFlow)) {
    return Call(std::move(app), std::string(target), std::move(headers), std::move(body),
                timeout_ms, std::move(done), {.trace = std::move(trace)});
  }
  flow::Start start;
  start.flow = target.substr(kFlow.size());
  start.input = std::move(body);
  start.trace = trace.tracing == Tracing::kTold ? trace.id : "";
  Start(std::move(app), std::move(start), std::move(done), origin, 0, {.trace = std::move(trace)});
}

// --- driving ------------------------------------------------------------------------------------

Outcome Engine::TellDriver(const LiveRunPtr& run, RunEvent&& event) {
  const RunTime now = event.at_ns != 0 ? TimeAt(event.at_ns) : Now();
  return AskDriver(run, now, [&](RunDriver& driver, RunTime at) {
    return driver.OnEvent(std::move(event), at);
  });
}

void Engine::Happened(const LiveRunPtr& run, RunEvent&& event) {
  CarryOut(run, TellDriver(run, std::move(event)));
}

void Engine::CarryOut(const LiveRunPtr& run, Outcome outcome) {
  while (true) {
    for (CallAgain& again : outcome.call_again) {
      CallOnPool(run, std::move(again.call), again.pause);
    }
    // Also for a run that is lost: these are actions of steps that were stored before.
    const std::optional<flow::Call> call = CarryOutActions(run, std::move(outcome.actions));
    if (outcome.lost) return LeaveToOther(run);
    if (!call && run->is_durable()) return ParkIfPossible(run);
    if (!call) return;
    // A durable run goes on when the server starts again.
    if (run->is_durable() && stopping_) return BecameIdle(run);
    std::optional<RunEvent> answer = tasks_.Call(run, *call);
    if (!answer) return BecameIdle(run);
    outcome = TellDriver(run, std::move(*answer));
  }
}

std::optional<flow::Call> Engine::CarryOutActions(const LiveRunPtr& run, flow::Actions actions) {
  std::optional<flow::Call> first;
  for (flow::Action& action : actions) {
    if (auto* call = std::get_if<flow::Call>(&action)) {
      if (first) {
        CallOnPool(run, std::move(*call), {});
      } else {
        first.emplace(std::move(*call));
      }
    } else if (auto* send = std::get_if<flow::Send>(&action)) {
      Send(*run, *send);
    } else if (auto* respond = std::get_if<flow::Respond>(&action)) {
      answers_.Respond(*run, std::move(*respond));
    } else if (auto* line = std::get_if<flow::LogLine>(&action)) {
      log::Write(line->level, "message of a flow",
                 {{"flow", line->flow}, {"run", run->id}, {"says", line->message}});
    } else if (auto* abandon = std::get_if<flow::Abandon>(&action)) {
      tasks_.Stop(*run, abandon->call);
    } else if (auto* ended = std::get_if<flow::Ended>(&action)) {
      Ended(run, *ended);
    }
  }
  return first;
}

void Engine::CallOnPool(const LiveRunPtr& run, flow::Call call, std::chrono::microseconds pause) {
  Pool::Job job = [this, run, call = std::move(call)] {
    if (auto answer = tasks_.Call(run, call)) Happened(run, std::move(*answer));
  };
  if (pause.count() == 0) return threads_.Post(std::move(job));
  const auto pause_ms = std::chrono::ceil<std::chrono::milliseconds>(pause).count();
  timers_.RunLater(timers_.NewLater(NowMs() + static_cast<uint64_t>(pause_ms)), std::move(job));
}

void Engine::BecameIdle(const LiveRunPtr& run) {
  if (!run->is_durable()) return;
  AskDriver(run, Now(), [](RunDriver& driver, RunTime now) { return driver.OnIdle(now); });
}

void Engine::Ended(const LiveRunPtr& run, const flow::Ended& ended) {
  Uncount(*run);
  ++(ended.message.empty() ? counts_.completed : counts_.failed);
  if (run->listened != nullptr && !stopping_) {
    answers_.TellListeners(*run, ended,
                           [this](const std::shared_ptr<const App>& app, std::string_view listener,
                                  json::Value headers, json::Value body, TraceLink trace) {
                             Tell(app, listener, std::move(headers), std::move(body),
                                  kTellTimeoutMs, kListenerOrigin, std::move(trace),
                                  LogIfRefused("flow.listener_failed", listener));
                           });
  }
  if (!run->is_durable()) return;
  if (ended.status >= 400 && run->origin == kAutostartOrigin) {
    const MutexLock lock(run->mutex);
    LogAutostartFailure(run->durable->head().flow, ended.status, ended.message);
  }
  live_.Remove(*run);
}

void Engine::Send(LiveRun& run, const flow::Send& send) {
  Tell(run.app, send.route, send.headers, send.body, kTellTimeoutMs, "flow", Answers::LinkTo(run),
       LogIfRefused("flow.send_failed", send.route));
}

}  // namespace sluice::flow_engine
