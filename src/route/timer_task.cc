#include "route/timer_task.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/quantity.h"
#include "base/wait_scope.h"

namespace sluice::route {
namespace {

using json::Value;

// How often it looks whether it is still wanted.
constexpr std::chrono::milliseconds kLook(50);
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
    if (!Wait(*delay_ms, input)) return TaskOutput::Failure(503, "timer: nobody waits any more");
    return {.body = Value::Object({{"waited_ms", Value::Unsigned(*delay_ms)},
                                   {"now", Value::Unsigned(clock_.WallMs())}})};
  }

 private:
  // False when it was ended before.
  static bool Wait(uint64_t delay_ms, const TaskInput& input) {
    const WaitScope waits;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(delay_ms);
    while (true) {
      if (input.cancelled != nullptr && *input.cancelled) return false;
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero()) return true;
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kLook));
    }
  }

  const Clock& clock_;
};

}  // namespace

TaskMaker MakeTimerTask(const Clock& clock) {
  return [&clock]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<TimerTask>(clock);
  };
}

}  // namespace sluice::route
