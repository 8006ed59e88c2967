#include "flow_engine/timer_task.h"

#include "base/quantity.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

constexpr uint64_t kMaxDelayMs = 24ull * 3600 * 1000;

Result<uint64_t> DelayOf(const Value& delay) {
  if (delay.is_int() && delay.AsInt() >= 0 && static_cast<uint64_t>(delay.AsInt()) <= kMaxDelayMs) {
    return static_cast<uint64_t>(delay.AsInt());
  }
  if (delay.is_string()) {
    const auto parsed = ParseDurationMs(delay.AsString());
    if (parsed && *parsed <= kMaxDelayMs) return *parsed;
  }
  return Fail(Code::kInvalidArgument, "route.argument",
              "timer: expected 'delay', milliseconds or a time such as 2s, at most a day");
}

class TimerTask final : public TaskInstance {
 public:
  explicit TimerTask(const Clock& clock) : clock_(clock) {}

  TaskOutput Run(const TaskInput& input) override {
    const auto delay_ms = DelayOf(input.body["delay"]);
    if (!delay_ms) return TaskOutput::Failure(delay_ms.error());
    if (*delay_ms >= input.timeout_ms) {
      return TaskOutput::Failure(
          408, fmt::format("timer: {} ms are more than the {} ms that are left", *delay_ms,
                           input.timeout_ms));
    }
    return {.body = Value::Object({{"waited_ms", Value::Unsigned(*delay_ms)},
                                   {"now", Value::Unsigned(clock_.WallMs() + *delay_ms)}}),
            .answer_after_ms = *delay_ms};
  }

 private:
  const Clock& clock_;
};

}  // namespace

TaskMaker MakeTimerTask(const Clock& clock) {
  return [&clock]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<TimerTask>(clock);
  };
}

}  // namespace sluice::flow_engine
