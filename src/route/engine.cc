#include "route/engine.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/random.h"

namespace sluice::route {

struct Engine::Instance {
  Instance(std::shared_ptr<const App> of, ReplyTo to)
      : app(std::move(of)), run(app->flows, app->files.get()), reply(std::move(to)) {}

  const std::shared_ptr<const App> app;
  std::mutex mutex;
  flow::Run run;  // under mutex
  ReplyTo reply;  // taken by the step that answers, under mutex
  // Under timer_mutex_: its place among the timers; 0 when it has none.
  uint64_t due_ms = 0;
};

Engine::Engine(const Clock& clock, EngineOptions options)
    : clock_(clock), options_(options), pool_(options.max_threads) {
  timer_thread_ = std::thread([this] { TimerLoop(); });
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
  }
  for (const auto& [due_ms, instance] : timers) Drive(instance, flow::Cancel{});
  pool_.Stop();
}

// Never goes back.
uint64_t Engine::NowMs() {
  const uint64_t now_ms = clock_.WallMs();
  uint64_t last_ms = last_ms_.load();
  while (last_ms < now_ms && !last_ms_.compare_exchange_weak(last_ms, now_ms)) {
  }
  return std::max(last_ms, now_ms);
}

void Engine::Start(std::shared_ptr<const App> app, flow::Start start, ReplyTo reply) {
  if (running_ >= options_.max_runs || stopping_) {
    return reply({.status = 503, .body = json::Value("Too many flows are running")});
  }
  if (start.run.empty()) start.run = NewUuid();
  auto instance = std::make_shared<Instance>(std::move(app), std::move(reply));
  ++running_;
  pool_.Post(
      [this, instance, start = std::move(start)]() mutable { Drive(instance, std::move(start)); });
}

void Engine::Call(std::shared_ptr<const App> app, const std::string& name, json::Value headers,
                  json::Value body, uint64_t timeout_ms, ReplyTo reply) {
  const auto found = app->routes.find(name);
  if (found == app->routes.end()) {
    return reply({.status = 503, .body = json::Value("Service " + name + " not reachable")});
  }
  struct Request {
    std::shared_ptr<const App> app;
    std::shared_ptr<Route> route;
    json::Value headers;
    json::Value body;
    uint64_t timeout_ms;
    ReplyTo reply;
  };
  auto request = std::make_shared<Request>(
      Request{app, found->second, std::move(headers), std::move(body), timeout_ms, reply});
  const auto run = [this, request](Route::Slot& slot) {
    TaskOutput output = request->route->Run(
        slot,
        {.headers = request->headers, .body = request->body, .timeout_ms = request->timeout_ms});
    Release(request->route, &slot);
    request->reply({output.status, std::move(output.headers), std::move(output.body)});
  };
  pool_.Post([request, run] {
    Route::Job job = run;
    const auto slot = request->route->Enter(job);
    if (!slot) return request->reply({.status = 503, .body = json::Value(slot.error().message())});
    if (*slot != nullptr) run(**slot);
  });
}

// Steps a run with an event, and with what the functions that it then calls answer.
void Engine::Drive(const InstancePtr& instance, flow::Event event) {
  std::optional<flow::Event> next = std::move(event);
  while (next) {
    flow::Actions actions;
    std::optional<uint64_t> due_ms;
    {
      const std::lock_guard lock(instance->mutex);
      if (instance->run.ended()) return;
      instance->run.Step(*next, NowMs(), &actions);
      if (!instance->run.ended()) due_ms = instance->run.next_due_ms();
    }
    next.reset();
    Schedule(instance, due_ms);
    std::optional<flow::Call> inline_call;
    Handle(instance, std::move(actions), &inline_call);
    if (inline_call) {
      if (auto result = RunCall(instance, *inline_call)) next = std::move(*result);
    }
  }
}

void Engine::Handle(const InstancePtr& instance, flow::Actions actions,
                    std::optional<flow::Call>* inline_call) {
  for (flow::Action& action : actions) {
    if (auto* call = std::get_if<flow::Call>(&action)) {
      if (!*inline_call) {
        inline_call->emplace(std::move(*call));
        continue;
      }
      pool_.Post([this, instance, call = std::move(*call)] {
        if (auto result = RunCall(instance, call)) Drive(instance, std::move(*result));
      });
    } else if (auto* send = std::get_if<flow::Send>(&action)) {
      Send(instance, *send);
    } else if (auto* respond = std::get_if<flow::Respond>(&action)) {
      ReplyTo reply;
      {
        const std::lock_guard lock(instance->mutex);
        reply = std::exchange(instance->reply, nullptr);
      }
      if (reply) {
        reply({respond->status, std::move(respond->headers), std::move(respond->body)});
      }
    } else if (auto* line = std::get_if<flow::LogLine>(&action)) {
      log::Warn("a flow", {{"message", line->message}});
    } else if (std::holds_alternative<flow::Ended>(action)) {
      --running_;
    }
    // An abandoned call runs to its end: its answer is passed over.
  }
}

std::optional<flow::TaskResult> Engine::RunCall(const InstancePtr& instance,
                                                const flow::Call& call) {
  const auto found = instance->app->routes.find(call.route);
  if (found == instance->app->routes.end()) {
    return flow::TaskResult{.call = call.call,
                            .status = 500,
                            .headers = {},
                            .body = json::Value(fmt::format("Route {} not found", call.route))};
  }
  const std::shared_ptr<Route> route = found->second;
  Route::Slot* slot = route->TryEnter();
  if (slot == nullptr) {
    Route::Job job = [this, instance, route, call](Route::Slot& free) {
      Drive(instance, RunOn(*route, free, call, instance));
    };
    const auto entered = route->Enter(job);
    if (!entered) {
      return flow::TaskResult{.call = call.call,
                              .status = 503,
                              .headers = {},
                              .body = json::Value(entered.error().message())};
    }
    if (*entered == nullptr) return std::nullopt;
    slot = *entered;
  }
  return RunOn(*route, *slot, call, instance);
}

flow::TaskResult Engine::RunOn(Route& route, Route::Slot& slot, const flow::Call& call,
                               const InstancePtr& instance) {
  TaskInput input{.headers = call.headers, .body = call.body};
  const uint64_t now_ms = NowMs();
  if (call.due_ms != 0) input.timeout_ms = call.due_ms > now_ms ? call.due_ms - now_ms : 1;
  TaskOutput output = route.Run(slot, input);
  Release(instance->app->routes.find(call.route)->second, &slot);
  return {.call = call.call,
          .status = output.status,
          .headers = std::move(output.headers),
          .body = std::move(output.body),
          .stack = std::move(output.stack)};
}

void Engine::Release(const std::shared_ptr<Route>& route, Route::Slot* slot) {
  std::optional<Route::Job> job = route->Leave(slot);
  if (!job) return;
  pool_.Post([route, slot, job = std::move(*job)]() mutable { job(*slot); });
}

// To a route, or a flow of its own; nobody waits for the answer.
void Engine::Send(const InstancePtr& instance, const flow::Send& send) {
  constexpr std::string_view kFlow = "flow://";
  constexpr uint64_t kTimeoutMs = 30'000;
  const auto failed = [route = std::string(send.route)](const Reply& reply) {
    if (reply.status < 400) return;
    log::Warn("what a flow sent was not taken", {{"route", route}});
  };
  if (send.route.starts_with(kFlow)) {
    flow::Start start;
    start.flow = send.route.substr(kFlow.size());
    start.input = send.body;
    return Start(instance->app, std::move(start), failed);
  }
  Call(instance->app, std::string(send.route), send.headers, send.body, kTimeoutMs, failed);
}

void Engine::Schedule(const InstancePtr& instance, std::optional<uint64_t> due_ms) {
  const uint64_t due = due_ms.value_or(0);
  bool first = false;
  {
    const std::lock_guard lock(timer_mutex_);
    if (instance->due_ms == due) return;
    if (instance->due_ms != 0) timers_.erase({instance->due_ms, instance});
    instance->due_ms = due;
    if (due == 0) return;
    first = timers_.empty() || due < timers_.begin()->first;
    timers_.emplace(due, instance);
  }
  if (first) timer_wake_.notify_one();
}

void Engine::TimerLoop() {
  constexpr std::chrono::milliseconds kLongest(1000);
  std::unique_lock lock(timer_mutex_);
  while (!stopping_) {
    const uint64_t now_ms = NowMs();
    if (timers_.empty() || timers_.begin()->first > now_ms) {
      const auto wait =
          timers_.empty()
              ? kLongest
              : std::min(kLongest, std::chrono::milliseconds(timers_.begin()->first - now_ms));
      timer_wake_.wait_for(lock, wait);
      continue;
    }
    const InstancePtr instance = timers_.begin()->second;
    instance->due_ms = 0;
    timers_.erase(timers_.begin());
    lock.unlock();
    pool_.Post([this, instance] { Drive(instance, flow::Tick{}); });
    lock.lock();
  }
}

}  // namespace sluice::route
