// Whether and when a failed event is tried again: a number of times, each time later, by the class
// of the error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "failure/failure.h"

namespace sluice::failure {

struct RetryPolicy {
  uint32_t count = 0;  // attempts after the first one
  uint32_t delay_ms = 1000;
  double backoff = 2;  // each delay is this many times the one before
  uint32_t max_delay_ms = 3'600'000;
  double jitter = 0.1;          // up to so much of the delay is added, by chance
  std::vector<std::string> on;  // kinds or types of problems; empty: all

  bool operator==(const RetryPolicy&) const = default;
};

// From the last attempt to the next; none when it was the last one.
std::optional<uint64_t> DelayMs(const RetryPolicy& policy, const Problem& problem,
                                uint32_t attempts, Random& random);

}  // namespace sluice::failure
