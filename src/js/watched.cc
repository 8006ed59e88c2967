#include "js/watched.h"

#include <chrono>
#include <optional>

#include <pthread.h>

#include "base/check.h"

namespace sluice::js {
namespace {

constexpr std::chrono::milliseconds kInterval(10);

std::optional<uint64_t> TimeOf(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

Watched::Watched() : sluice::Watched(kInterval) {}

void Watched::ArmBy(clockid_t clock, uint64_t deadline_ns) {
  clock_.store(clock, std::memory_order_relaxed);  // visible to a thread that sees the deadline
  deadline_ns_ = deadline_ns;
  Wake();
}

void Watched::ArmForCpuTime(uint64_t ns) {
  clockid_t clock = CLOCK_MONOTONIC;
  CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0);
  ArmBy(clock, TimeOf(clock).value_or(0) + ns);
}

// A thread that has ended has no clock; its call is no longer armed.
uint64_t Watched::OwnTime(uint64_t monotonic_ns) const {
  const clockid_t clock = clock_.load(std::memory_order_relaxed);
  return clock == CLOCK_MONOTONIC ? monotonic_ns : TimeOf(clock).value_or(0);
}

}  // namespace sluice::js
