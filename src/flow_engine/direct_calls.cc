#include "flow_engine/direct_calls.h"

#include <atomic>
#include <utility>

namespace sluice::flow_engine {

struct DirectCalls::Request {
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

void DirectCalls::Run(const std::shared_ptr<Request>& request, Route::Slot& slot) {
  if (request->answered) return tasks_.Release(request->route, &slot);
  TaskOutput output = request->Run(slot, time_.NowMs());
  tasks_.Release(request->route, &slot);
  Reply answer{.status = output.status,
               .headers = std::move(output.headers),
               .body = std::move(output.body),
               .streams = request->streams};
  if (output.answer_after_ms == 0) return request->Answer(std::move(answer));
  timers_.RunLater(
      timers_.NewLater(time_.NowMs() + output.answer_after_ms),
      [request, answer = std::move(answer)]() mutable { request->Answer(std::move(answer)); });
}

void DirectCalls::Call(std::shared_ptr<const App> app, const std::string& name, json::Value headers,
                       json::Value body, uint64_t timeout_ms, ReplyTo reply, RunContext context) {
  const auto found = app->routes.find(name);
  if (found == app->routes.end()) {
    return reply({.status = 503, .body = json::Value("Service " + name + " not reachable")});
  }
  auto request = std::make_shared<Request>(
      app, found->second, std::move(headers), std::move(body), time_.NowMs() + timeout_ms, reply,
      std::move(context.trace), std::move(context.streams), std::move(context.cid));
  if (request->streams == nullptr) request->streams = std::make_shared<StreamScope>();
  const RunTimers::LaterId timeout = timers_.NewLater(request->due_ms);
  Route::Job job = [this, timeout, request, pool = context.pool](Route::Slot& free) {
    timers_.Drop(timeout);
    if (pool == nullptr) return Run(request, free);
    threads_.Begin({.pool = pool}, [this, request, &free] { Run(request, free); });
  };
  // Here, and not on the other thread: calls of one caller to a route with one instance stay in
  // order.
  const auto slot = request->route->Enter(job);
  if (!slot) return reply({.status = 503, .body = json::Value(slot.error().message())});
  if (*slot != nullptr) {
    return threads_.Begin(context, [this, request, slot = *slot] { Run(request, *slot); });
  }
  // The caller waits no longer than that, however long the calls before it take.
  timers_.RunLater(timeout, [timeout_ms, waiting = std::weak_ptr(request)] {
    const auto late = waiting.lock();
    if (late == nullptr) return;
    late->Answer({.status = 408,
                  .body = json::Value(fmt::format("Timeout for {} ms: all instances of {} are busy",
                                                  timeout_ms, late->route->name()))});
  });
}

}  // namespace sluice::flow_engine
