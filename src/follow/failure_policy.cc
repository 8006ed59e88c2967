#include "follow/failure_policy.h"

#include <algorithm>

namespace sluice::follow {

std::chrono::milliseconds GrowingPauses::Next() {
  constexpr uint32_t kMostDoublings = 10;
  const uint32_t doublings = std::min(attempts_++, kMostDoublings);
  const auto longest = static_cast<uint64_t>(std::min(kFirst * (1 << doublings), kLongest).count());
  return std::chrono::milliseconds(longest - random_.Below(longest / 4 + 1));
}

}  // namespace sluice::follow
