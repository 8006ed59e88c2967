// The natives of library/timers.js.
#include <algorithm>

#include "function/handler.h"

namespace sluice::function {
namespace {

constexpr size_t kMaxReferenceBytes = 4096;

}  // namespace

std::vector<script::Native> Handler::TimerNatives() {
  return {
      {"timerCreate", [this](script::Call& call) { CreateTimer(call); }},
      {"timerCancel", [this](script::Call& call) { CancelTimer(call); }},
  };
}

bool Handler::MayCreateTimer(script::Call& call, const timer::Timer& timer) {
  const size_t allowed = definition_->settings.timer_context_bytes;
  const auto refuse = [&](const std::string& message) {
    ++statistics_->timer_create_failures;
    call.Throw("EventingError", message);
    return false;
  };
  if (definition_->is_task()) return refuse("a function of flows can't create timers");
  if (timer.context.size() > allowed) {
    ++effects_->counts().contexts_too_large;
    return refuse(
        fmt::format("The context payload size is more than the configured size:{} bytes", allowed));
  }
  if (timer.reference.size() > kMaxReferenceBytes) {
    return refuse(fmt::format("a timer's reference may have {} bytes, this one has {}",
                              kMaxReferenceBytes, timer.reference.size()));
  }
  timer_bytes_ += timer.reference.size() + timer.context.size();
  const InvocationLimits& limits = services_.limits;
  if (++timers_ > limits.timers || timer_bytes_ > limits.timer_bytes) {
    return refuse(fmt::format(
        "an invocation may create at most {} timers (functions.max_timers), with {} bytes together "
        "(functions.max_timer_bytes)",
        limits.timers, limits.timer_bytes));
  }
  return true;
}

// Callback's name, time in ms, reference or undefined for a new one, context as JSON or undefined.
// A due time in the past becomes now, so that the scheduler need not look for timers in the past.
void Handler::CreateTimer(script::Call& call) {
  timer::Timer timer;
  timer.callback = call.String(0);
  timer.moment.due_ms = std::max(static_cast<uint64_t>(call.Number(1)), services_.clock.WallMs());
  timer.moment.id = services_.database.NewCas();
  timer.reference = call.kind(2) == script::Kind::kUndefined
                        ? fmt::format("{:016x}", timer.moment.id)
                        : call.String(2);
  if (call.kind(3) != script::Kind::kUndefined) timer.context = call.String(3);
  if (!MayCreateTimer(call, timer)) return;
  const Status created = effects_->timers().Create(timer);
  if (!created.ok()) return call.Throw("EventingError", created.message());
  ++effects_->counts().timers_created;
  call.Return(std::string_view(timer.reference));
}

void Handler::CancelTimer(script::Call& call) {
  const Result<bool> cancelled = effects_->timers().Cancel(call.String(0), call.String(1));
  if (!cancelled) return call.Throw("EventingError", cancelled.error().message());
  if (*cancelled) ++effects_->counts().timers_cancelled;
  call.Return(*cancelled);
}

bool Handler::HasCallback(Turn& turn, const std::string& name) {
  const auto known = callbacks_.find(name);
  if (known != callbacks_.end()) return known->second;
  return callbacks_.emplace(name, turn.session_.Defines(name)).first->second;
}

script::Outcome Handler::RunTimer(Turn& turn, Effects& effects, const timer::Timer& timer) {
  const script::Argument arguments[] = {std::string_view(timer.callback),
                                        timer.context.empty()
                                            ? script::Argument(script::Undefined{})
                                            : script::Argument(script::Json{timer.context})};
  return Call(turn, effects, "timer", arguments, definition_->settings.execution_timeout_s);
}

}  // namespace sluice::function
