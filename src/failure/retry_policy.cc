#include "failure/retry_policy.h"

#include <algorithm>
#include <cmath>

namespace sluice::failure {

std::optional<uint64_t> DelayMs(const RetryPolicy& policy, const Problem& problem,
                                uint32_t attempts, Random& random) {
  if (attempts > policy.count) return std::nullopt;
  const auto is_meant = [&](const std::string& on) {
    return on == problem.kind || on == problem.type;
  };
  if (!policy.on.empty() && std::ranges::none_of(policy.on, is_meant)) return std::nullopt;
  const double longest = policy.max_delay_ms;
  // A power that is too large for a double is infinite, which min takes care of.
  const double delay =
      policy.delay_ms == 0
          ? 0
          : std::min(longest, policy.delay_ms * std::pow(policy.backoff, attempts - 1.0));
  const auto most_added = static_cast<uint64_t>(delay * policy.jitter);
  return static_cast<uint64_t>(delay) + random.Below(most_added + 1);
}

}  // namespace sluice::failure
