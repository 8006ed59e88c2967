#include "flow_engine/answers.h"

#include <set>
#include <utility>

#include "flow_engine/engine.h"

namespace sluice::flow_engine {
namespace {

// The flow, if the app or the flow itself has listeners. A listener that is a flow itself has none:
// that would never end.
const flow::Flow* ListenedFlow(const App& app, std::string_view flow, std::string_view origin) {
  const flow::Flow* const found = app.flows->Find(flow);
  if (found == nullptr || origin == kListenerOrigin) return nullptr;
  return app.options.listeners.empty() && found->listeners.empty() ? nullptr : found;
}

json::Value ViewOfEnd(const LiveRun& run, const flow::Ended& ended) {
  json::Value end =
      json::Value::Object({{"run", run.id},
                           {"flow", run.listened->id},
                           {"status", ended.status},
                           {"failed", ended.status >= 400 || !ended.message.empty()}});
  if (!ended.message.empty()) end.Set("message", ended.message);
  return end;
}

}  // namespace

void LiveRun::OnStep(const flow::Run& run, const flow::Actions& actions, size_t ended_tasks,
                     RunTime now) {
  mutex.AssertHeld();
  answers.NoteStep(*this, run, actions, ended_tasks, now);
}

void Answers::BeginTrace(LiveRun& run, std::string_view flow, TraceLink link) const {
  run.listened = ListenedFlow(*run.app, flow, run.origin);
  if (link.tracing == Tracing::kOff) return;
  if (traces_.kept() == 0 && exporter_ == nullptr && link.id.empty() && run.listened == nullptr) {
    return;
  }
  const uint64_t now_ns = time_.MonotonicNs();
  run.trace = std::make_shared<RunTrace>(RunTrace::Head{.run = run.id,
                                                        .flow = std::string(flow),
                                                        .origin = run.origin,
                                                        .link = std::move(link),
                                                        .wall_ns = time_.WallNsAt(now_ns),
                                                        .monotonic_ns = now_ns},
                                         run.app->flows);
}

void Answers::NoteStep(LiveRun& run, const flow::Run& machine, const flow::Actions& actions,
                       size_t ended_tasks, RunTime now) {
  if (ended_tasks != 0) durable_steps_ += ended_tasks;
  if (run.trace == nullptr) return;
  run.trace->Note(actions, now.monotonic_ns);
  if (!machine.ended()) return;
  run.trace->Finish(machine.state(), now.monotonic_ns);
  const TracePtr trace = std::exchange(run.trace, nullptr);
  if (run.listened != nullptr) run.finished = trace;
  traces_.Add(trace);
  if (exporter_) exporter_(trace);
}

void Answers::Respond(LiveRun& run, flow::Respond respond) const {
  ReplyTo reply;
  {
    const MutexLock lock(run.mutex);
    reply = std::exchange(run.reply, nullptr);
    run.answer_by_ms = 0;
  }
  if (!reply) return;
  reply({.status = respond.status,
         .headers = std::move(respond.headers),
         .body = std::move(respond.body),
         .run = run.is_durable() ? run.id : "",
         .streams = run.streams()});
}

void Answers::RespondIfLate(LiveRun& run, uint64_t now_ms) const {
  {
    const MutexLock lock(run.mutex);
    if (run.answer_by_ms == 0 || run.answer_by_ms > now_ms) return;
  }
  Respond(
      run,
      {.status = 408,
       .headers = {},
       .body = json::Value(fmt::format("Not done in time; run {} of the flow goes on", run.id))});
}

TraceLink Answers::LinkTo(LiveRun& run) {
  const MutexLock lock(run.mutex);
  return run.trace == nullptr ? TraceLink{.tracing = Tracing::kOff} : run.trace->Link();
}

void Answers::TellListeners(LiveRun& run, const flow::Ended& ended, const Tell& tell) {
  TracePtr trace;
  std::string cid;
  {
    const MutexLock lock(run.mutex);
    trace = std::exchange(run.finished, nullptr);
    cid = run.driver->run().state().cid;
  }
  json::Value body = trace != nullptr ? ViewOf(*trace) : ViewOfEnd(run, ended);
  body.Set("cid", cid);
  const json::Value headers = json::Value::Object({{"type", "ended"}});
  const TraceLink link = trace == nullptr ? TraceLink{.tracing = Tracing::kOff} : trace->Link();
  std::set<std::string_view> told;
  for (const auto* listeners : {&run.app->options.listeners, &run.listened->listeners}) {
    for (const std::string& listener : *listeners) {
      if (!told.insert(listener).second) continue;
      const bool is_flow = listener.starts_with("flow://");
      json::Value given =
          is_flow ? json::Value::Object({{"header", headers}, {"body", body}}) : body;
      tell(run.app, listener, headers, std::move(given), link);
    }
  }
}

}  // namespace sluice::flow_engine
