#include "function/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace sluice::function {
namespace {

constexpr int kStepBits = 3;
constexpr uint64_t kStepsOfAPower = 1 << kStepBits;

}  // namespace

// Below eight each value has its step; then each power of two has eight.
size_t LatencyHistogram::StepOf(uint64_t microseconds) {
  if (microseconds < kStepsOfAPower) return microseconds;
  const int power = std::bit_width(microseconds) - 1;
  const uint64_t part = (microseconds >> (power - kStepBits)) - kStepsOfAPower;
  return std::min(static_cast<size_t>(power - kStepBits + 1) * kStepsOfAPower + part, kSteps - 1);
}

uint64_t LatencyHistogram::LongestOf(size_t step) {
  if (step < kStepsOfAPower) return step;
  const size_t shift = step / kStepsOfAPower - 1;
  return ((kStepsOfAPower + step % kStepsOfAPower + 1) << shift) - 1;
}

void LatencyHistogram::Add(uint64_t microseconds) {
  counts_[StepOf(microseconds)].fetch_add(1, std::memory_order_relaxed);
}

uint64_t LatencyHistogram::Percentile(double part) const {
  uint64_t total = 0;
  for (const auto& count : counts_) total += count;
  const auto wanted = static_cast<uint64_t>(std::ceil(static_cast<double>(total) * part));
  uint64_t seen = 0;
  for (size_t step = 0; step < kSteps; ++step) {
    seen += counts_[step];
    if (seen >= wanted && seen > 0) return LongestOf(step);
  }
  return 0;
}

json::Value LatencyHistogram::Print() const {
  json::Value value = json::Value::EmptyObject();
  for (size_t step = 0; step < kSteps; ++step) {
    if (const uint64_t count = counts_[step]; count > 0) {
      value.Set(std::to_string(LongestOf(step)), json::Value::Unsigned(count));
    }
  }
  return value;
}

void LatencyHistogram::Reset() {
  for (auto& count : counts_) count = 0;
}

}  // namespace sluice::function
