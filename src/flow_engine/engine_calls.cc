// How the engine calls functions.
#include <atomic>
#include <memory>
#include <set>

#include "base/log.h"
#include "flow_engine/engine_instance.h"

namespace sluice::flow_engine {

namespace {

// One function is called, without a flow.
struct CallRequest {
  std::shared_ptr<const App> app;
  std::shared_ptr<Route> route;
  json::Value headers;
  json::Value body;
  uint64_t due_ms;
  ReplyTo reply;
  TraceLink trace;
  std::shared_ptr<StreamScope> streams;
  std::string cid;
  std::atomic<bool> answered = false;

  void Answer(Reply answer) {
    if (!answered.exchange(true)) reply(std::move(answer));
  }

  TaskOutput Run(Route::Slot& slot, uint64_t now_ms) const {
    if (now_ms >= due_ms) {
      return TaskOutput::Failure(408, "Timeout of a call that waited for its turn");
    }
    const TraceContext span{.id = trace.id,
                            .span = SpanOf(trace.id, now_ms),
                            .flags = trace.flags,
                            .state = trace.state};
    const bool told = trace.tracing == Tracing::kTold;
    return route->Run(slot, {.headers = headers,
                             .body = body,
                             .timeout_ms = due_ms - now_ms,
                             .trace = span.id.empty() ? nullptr : &span,
                             .streams = streams.get(),
                             .route = route->name(),
                             .cid = cid,
                             .trace_id = told ? std::string_view(trace.id) : std::string_view()});
  }
};

}  // namespace

void Engine::Call(std::shared_ptr<const App> app, const std::string& name, json::Value headers,
                  json::Value body, uint64_t timeout_ms, ReplyTo reply, RunContext context) {
  const auto found = app->routes.find(name);
  if (found == app->routes.end()) {
    return reply({.status = 503, .body = json::Value("Service " + name + " not reachable")});
  }
  auto request = std::make_shared<CallRequest>(
      app, found->second, std::move(headers), std::move(body), NowMs() + timeout_ms, reply,
      std::move(context.trace), std::move(context.streams), std::move(context.cid));
  if (request->streams == nullptr) request->streams = std::make_shared<StreamScope>();
  const auto run = [this, request](Route::Slot& slot) {
    if (request->answered) return Release(request->route, &slot);
    TaskOutput output = request->Run(slot, NowMs());
    Release(request->route, &slot);
    Reply answer{.status = output.status,
                 .headers = std::move(output.headers),
                 .body = std::move(output.body),
                 .streams = request->streams};
    if (output.answer_after_ms == 0) return request->Answer(std::move(answer));
    RunLater({NowMs() + output.answer_after_ms, ++last_later_},
             [request, answer = std::move(answer)] { request->Answer(answer); });
  };
  const LaterId timeout{request->due_ms, ++last_later_};
  Route::Job job = [this, timeout, run, pool = context.pool](Route::Slot& free) {
    Drop(timeout);
    if (pool == nullptr) return run(free);
    Begin({.pool = pool}, [run, &free] { run(free); });
  };
  // The turn is taken here: what one sends to a route with one instance arrives in order.
  const auto slot = request->route->Enter(job);
  if (!slot) return reply({.status = 503, .body = json::Value(slot.error().message())});
  if (*slot != nullptr) {
    Begin(context, [run, slot = *slot] { run(*slot); });
    return;
  }
  // Who calls waits no longer than that, however long the calls before it take.
  RunLater(timeout, [timeout_ms, waiting = std::weak_ptr(request)] {
    const auto late = waiting.lock();
    if (late == nullptr) return;
    late->Answer({.status = 408,
                  .body = json::Value(fmt::format("Timeout for {} ms: all instances of {} are busy",
                                                  timeout_ms, late->route->name()))});
  });
}

namespace {

flow::TaskResult ResultOf(uint64_t call, TaskOutput output) {
  return {.call = call,
          .status = output.status,
          .headers = std::move(output.headers),
          .body = std::move(output.body),
          .stack = std::move(output.stack),
          .hold_next_ms = output.hold_next_ms};
}

}  // namespace

// Of a durable run: takes what the function writes, to be committed with the step.
class Engine::StepSink final : public TaskSink {
 public:
  Status Commit(const TaskOutput& /*output*/, db::Commit commit) override {
    commit_ = std::move(commit);
    return OkStatus();
  }

  db::Commit TakeCommit() { return std::move(commit_); }

 private:
  db::Commit commit_;
};

std::optional<flow::Actions> Engine::Fail(const InstancePtr& instance, const flow::Call& call,
                                          int status, std::string message) {
  flow::TaskResult result = ResultOf(call.call, TaskOutput::Failure(status, std::move(message)));
  const uint64_t now_ns = time_.MonotonicNs();
  {
    const std::lock_guard lock(instance->mutex);
    if (instance->trace != nullptr) instance->trace->Answered(result, now_ns);
    if (!instance->durable()) {
      flow::Actions actions;
      if (!Advance(*instance, std::move(result), now_ns, &actions)) return std::nullopt;
      return actions;
    }
  }
  return Submit(instance, {.event = std::move(result)});
}

std::optional<flow::Actions> Engine::RunCall(const InstancePtr& instance, const flow::Call& call,
                                             int attempt) {
  const auto found = instance->app->routes.find(call.route);
  if (found == instance->app->routes.end()) {
    return Fail(instance, call, 500, fmt::format("Route {} not found", call.route));
  }
  const std::shared_ptr<Route>& route = found->second;
  Route::Slot* slot = route->TryEnter();
  if (slot == nullptr) {
    Route::Job job = [this, instance, route, call, attempt](Route::Slot& free) {
      if (auto next = RunOn(route, free, call, instance, attempt))
        Perform(instance, std::move(*next));
    };
    const auto entered = route->Enter(job);
    if (!entered) return Fail(instance, call, 503, entered.error().message());
    if (*entered == nullptr) return std::nullopt;
    slot = *entered;
  }
  return RunOn(route, *slot, call, instance, attempt);
}

namespace {

// That of the last call, if nobody looks at it any more.
std::shared_ptr<std::atomic<bool>> NewCancelled(Route::Slot& slot) {
  if (slot.cancelled == nullptr || slot.cancelled.use_count() > 1) {
    slot.cancelled = std::make_shared<std::atomic<bool>>();
  }
  *slot.cancelled = false;
  return slot.cancelled;
}

}  // namespace

std::optional<flow::Actions> Engine::RunOn(const std::shared_ptr<Route>& route, Route::Slot& slot,
                                           const flow::Call& call, const InstancePtr& instance,
                                           int attempt) {
  TaskInput input{.headers = call.headers, .body = call.body};
  input.cancelled = NewCancelled(slot);
  StepSink sink;
  if (instance->durable()) input.sink = &sink;
  input.streams =
      instance->given_streams != nullptr ? instance->given_streams.get() : &instance->own_streams;
  input.route = route->name();
  input.cid = instance->cid;
  input.trace_id = instance->trace_id;
  std::shared_ptr<const RunTrace> trace;
  TraceContext context;
  const Status made = route->Prepare(slot);
  const uint64_t began_ns = time_.MonotonicNs();
  input.now_ns = began_ns;
  {
    const std::lock_guard lock(instance->mutex);
    // It may have waited for long.
    if (instance->run.ended() || (instance->durable() && stopping_)) {
      Release(route, &slot);
      return std::nullopt;
    }
    // One that has waited is stopped in time all the same: the run gives it up.
    const uint64_t now_ms = instance->stepped_ms;
    if (call.due_ms != 0) input.timeout_ms = call.due_ms > now_ms ? call.due_ms - now_ms : 1;
    if (made.ok()) instance->running.push_back({call.call, slot.instance.get(), input.cancelled});
    if (instance->trace != nullptr) {
      instance->trace->Began(call.call, began_ns);
      trace = instance->trace;
      context = trace->ContextOf(call.call);
      input.trace = &context;
    }
  }
  const bool marked = made.ok() && instance->durable() && slot.instance->runs_code();
  function::UnderWay::Slot under_way(marked ? options_.under_way : nullptr, instance->id);
  under_way.Begin(function::UnderWay::Kind::kRun, call.call, route->name());
  TaskOutput output = made.ok() ? route->Run(slot, input) : TaskOutput::Failure(made);
  under_way.End();
  const uint64_t ended_ns = time_.MonotonicNs();
  const Ran ran{(ended_ns - began_ns) / 1000, output.repeatable};
  const uint64_t after_ms = output.answer_after_ms;
  flow::TaskResult result = ResultOf(call.call, std::move(output));
  {
    const std::lock_guard lock(instance->mutex);
    std::erase_if(instance->running, [&](const auto& each) { return each.call == call.call; });
    if (made.ok()) slot.instance->Renew();  // nobody stops it from here on
    if (instance->trace != nullptr && after_ms == 0) instance->trace->Answered(result, ended_ns);
    Release(route, &slot);
    if (!instance->durable() && after_ms == 0) {
      flow::Actions actions;
      if (!Advance(*instance, std::move(result), ended_ns, &actions)) return std::nullopt;
      return actions;
    }
  }
  if (after_ms != 0) {
    AnswerLater(instance, std::move(result), ran, after_ms);
    return std::nullopt;
  }
  return Submit(instance, {.event = std::move(result),
                           .ran = ran,
                           .commit = sink.TakeCommit(),
                           .call = call,
                           .attempt = attempt});
}

// A durable run that is stopped meanwhile calls the function again.
void Engine::AnswerLater(const InstancePtr& instance, flow::TaskResult result, Ran ran,
                         uint64_t after_ms) {
  RunLater({NowMs() + after_ms, ++last_later_}, [this, instance, result = std::move(result), ran] {
    {
      const std::lock_guard lock(instance->mutex);
      if (instance->trace != nullptr) instance->trace->Answered(result, time_.MonotonicNs());
    }
    Drive(instance, result, ran);
  });
}

void Engine::Release(const std::shared_ptr<Route>& route, Route::Slot* slot) {
  std::optional<Route::Job> job = route->Leave(slot);
  if (!job) return;
  pool_.Post([route, slot, job = std::move(*job)]() mutable { job(*slot); });
}

// What a run starts belongs to its trace.
TraceLink Engine::LinkTo(const InstancePtr& instance) {
  const std::lock_guard lock(instance->mutex);
  return instance->trace == nullptr ? TraceLink{.tracing = Tracing::kOff} : instance->trace->Link();
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

namespace {

constexpr uint64_t kTellTimeoutMs = 30'000;

ReplyTo LogIfRefused(std::string_view id, std::string_view target) {
  return [id, target = std::string(target)](const Reply& reply) {
    if (reply.status < 400) return;
    log::Warn("the external state machine did not take a flow's value",
              {{"error", fmt::format("{}: {} answered {}", id, target, reply.status)},
               {"route", target}});
  };
}

}  // namespace

void Engine::Send(const InstancePtr& instance, const flow::Send& send) {
  Tell(instance->app, send.route, send.headers, send.body, kTellTimeoutMs, "flow", LinkTo(instance),
       LogIfRefused("flow.send_failed", send.route));
}

const flow::Flow* Engine::ListenedFlow(const App& app, std::string_view flow,
                                       std::string_view origin) {
  const flow::Flow* const found = app.flows->Find(flow);
  // The end of what a listener is would be told to it, without end.
  if (found == nullptr || origin == kListenerOrigin) return nullptr;
  return app.options.listeners.empty() && found->listeners.empty() ? nullptr : found;
}

void Engine::TellListeners(const InstancePtr& instance, const flow::Ended& ended) {
  if (stopping_) return;
  TracePtr trace;
  std::string cid;
  {
    const std::lock_guard lock(instance->mutex);
    trace = std::exchange(instance->finished, nullptr);
    cid = instance->run.state().cid;
  }
  json::Value body;
  if (trace != nullptr) {
    body = ViewOf(*trace);
  } else {
    body = json::Value::Object({{"run", instance->id},
                                {"flow", instance->listened->id},
                                {"status", ended.status},
                                {"failed", ended.status >= 400 || !ended.message.empty()}});
    if (!ended.message.empty()) body.Set("message", ended.message);
  }
  body.Set("cid", cid);
  const json::Value headers = json::Value::Object({{"type", "ended"}});
  const TraceLink link = trace == nullptr ? TraceLink{.tracing = Tracing::kOff} : trace->Link();
  std::set<std::string_view> told;
  for (const auto* listeners :
       {&instance->app->options.listeners, &instance->listened->listeners}) {
    for (const std::string& listener : *listeners) {
      if (!told.insert(listener).second) continue;
      const bool is_flow = listener.starts_with("flow://");
      json::Value given =
          is_flow ? json::Value::Object({{"header", headers}, {"body", body}}) : body;
      Tell(instance->app, listener, headers, std::move(given), kTellTimeoutMs, kListenerOrigin,
           link, LogIfRefused("flow.listener_failed", listener));
    }
  }
}

void LogAutostartFailure(std::string_view target, int status, std::string_view message) {
  const Status why = Error(Code::kInternal, "flow.autostart_failed", "{} answered {}: {}", target,
                           status, message);
  log::Error("an autostart failed", {{"error", why.ToString()}});
}

}  // namespace sluice::flow_engine
