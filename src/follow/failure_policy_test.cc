#include "follow/failure_policy.h"

#include <gtest/gtest.h>

namespace sluice::follow {
namespace {

TEST(GrowingPauses, GrowTwofoldUpToTheLongestAndVaryByAQuarter) {
  GrowingPauses pauses(42);
  std::chrono::milliseconds longest = GrowingPauses::kFirst;
  for (uint32_t attempt = 1; attempt <= 100; ++attempt) {
    const std::chrono::milliseconds pause = pauses.Next();
    EXPECT_EQ(pauses.attempts(), attempt);
    EXPECT_LE(pause, longest);
    EXPECT_GE(pause, longest * 3 / 4 - std::chrono::milliseconds(1));
    longest = std::min(longest * 2, GrowingPauses::kLongest);
  }
  pauses.Reset();
  EXPECT_EQ(pauses.attempts(), 0u);
  EXPECT_LE(pauses.Next(), GrowingPauses::kFirst);
}

}  // namespace
}  // namespace sluice::follow
