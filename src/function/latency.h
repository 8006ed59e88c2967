// A histogram of durations: counts in steps of an eighth of a power of two.
// Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "json/value.h"

namespace sluice::function {

class LatencyHistogram {
 public:
  void Add(uint64_t microseconds);
  // The duration that `part` (0 to 1) of the counted ones did not exceed, rounded up to a step; 0
  // when none was counted.
  uint64_t Percentile(double part) const;
  // {"<microseconds>": count}: the longest duration of each step, without empty steps.
  json::Value Print() const;
  void Reset();

 private:
  static constexpr size_t kSteps = 224;  // up to half an hour
  static size_t StepOf(uint64_t microseconds);
  static uint64_t LongestOf(size_t step);

  std::array<std::atomic<uint64_t>, kSteps> counts_{};
};

}  // namespace sluice::function
