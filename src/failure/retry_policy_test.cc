#include "failure/retry_policy.h"

#include <gtest/gtest.h>

namespace sluice::failure {
namespace {

TEST(RetryPolicy, ByDefaultThereIsNone) {
  Random random(1);
  EXPECT_EQ(DelayMs({}, {.kind = "exception"}, 1, random), std::nullopt);
}

TEST(RetryPolicy, EachDelayIsLongerUpToALongest) {
  Random random(1);
  const RetryPolicy policy{
      .count = 5, .delay_ms = 100, .backoff = 3, .max_delay_ms = 1000, .jitter = 0};
  const Problem problem{.kind = "exception"};
  EXPECT_EQ(DelayMs(policy, problem, 1, random), 100u);
  EXPECT_EQ(DelayMs(policy, problem, 2, random), 300u);
  EXPECT_EQ(DelayMs(policy, problem, 3, random), 900u);
  EXPECT_EQ(DelayMs(policy, problem, 4, random), 1000u);
  EXPECT_EQ(DelayMs(policy, problem, 5, random), 1000u);
  EXPECT_EQ(DelayMs(policy, problem, 6, random), std::nullopt) << "that was the last attempt";
  const RetryPolicy endless{.count = UINT32_MAX, .backoff = 100, .max_delay_ms = 77, .jitter = 0};
  EXPECT_EQ(DelayMs(endless, problem, UINT32_MAX, random), 77u);
}

TEST(RetryPolicy, JitterOnlyAdds) {
  Random random(1);
  const RetryPolicy policy{.count = 1, .delay_ms = 1000, .jitter = 0.5};
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t delay = *DelayMs(policy, {}, 1, random);
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, 1000u);
  EXPECT_LE(most, 1500u);
  EXPECT_GT(most - least, 400u) << "they are spread";
}

TEST(RetryPolicy, OnlySomeErrors) {
  Random random(1);
  const RetryPolicy policy{.count = 1, .on = {"timeout", "CurlError"}};
  EXPECT_TRUE(DelayMs(policy, {.kind = "timeout"}, 1, random));
  EXPECT_TRUE(DelayMs(policy, {.kind = "exception", .type = "CurlError"}, 1, random));
  EXPECT_FALSE(DelayMs(policy, {.kind = "exception", .type = "TypeError"}, 1, random));
}

}  // namespace
}  // namespace sluice::failure
