#include "function/latency.h"

#include <gtest/gtest.h>

#include "json/print.h"

namespace sluice::function {
namespace {

TEST(Latency, PercentilesAreRoundedUpToAStep) {
  LatencyHistogram latency;
  EXPECT_EQ(latency.Percentile(0.5), 0u);
  for (uint64_t i = 1; i <= 100; ++i) latency.Add(i);
  EXPECT_EQ(latency.Percentile(0.05), 5u);
  EXPECT_EQ(latency.Percentile(0.5), 51u);
  EXPECT_EQ(latency.Percentile(0.99), 103u);
  EXPECT_EQ(latency.Percentile(1), 103u);
}

TEST(Latency, EveryDurationIsInAStepThatHoldsIt) {
  for (uint64_t us = 0; us < 100'000; us += 1 + us / 50) {
    LatencyHistogram latency;
    latency.Add(us);
    const uint64_t at_most = latency.Percentile(1);
    EXPECT_GE(at_most, us);
    EXPECT_LE(at_most, us + us / 8);
  }
  LatencyHistogram latency;
  latency.Add(UINT64_MAX);
  EXPECT_GT(latency.Percentile(1), 1'000'000'000u);
}

TEST(Latency, PrintsTheStepsThatHaveAny) {
  LatencyHistogram latency;
  latency.Add(3);
  latency.Add(3);
  latency.Add(1000);
  EXPECT_EQ(json::ToText(latency.Print()), R"({"3":2,"1023":1})");
  latency.Reset();
  EXPECT_EQ(json::ToText(latency.Print()), "{}");
}

}  // namespace
}  // namespace sluice::function
