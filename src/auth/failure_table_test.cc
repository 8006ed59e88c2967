#include "auth/failure_table.h"

#include <gtest/gtest.h>

namespace sluice::auth {
namespace {

void FailTimes(FailureTable* table, std::string_view user, uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) table->Failed(user, "10.0.0.1");
}

TEST(FailureTableTest, BlocksAfterTheFreeFailuresAndDoubles) {
  FakeClock clock;
  FailureTable table(clock);
  FailTimes(&table, "ann", FailureTable::kFreeFailures - 1);
  EXPECT_EQ(table.BlockedForMs("ann", "10.0.0.1"), 0u);
  table.Failed("ann", "10.0.0.1");
  EXPECT_EQ(table.BlockedForMs("ann", "10.0.0.1"), FailureTable::kFirstDelayMs);
  EXPECT_EQ(table.BlockedForMs("ann", "10.0.0.2"), 0u);
  EXPECT_EQ(table.BlockedForMs("bob", "10.0.0.1"), 0u);
  clock.AdvanceMs(FailureTable::kFirstDelayMs);
  EXPECT_EQ(table.BlockedForMs("ann", "10.0.0.1"), 0u);
  table.Failed("ann", "10.0.0.1");
  EXPECT_EQ(table.BlockedForMs("ann", "10.0.0.1"), 2 * FailureTable::kFirstDelayMs);
  FailTimes(&table, "ann", 100);
  EXPECT_EQ(table.BlockedForMs("ann", "10.0.0.1"), FailureTable::kMaxDelayMs);
}

TEST(FailureTableTest, SuccessAndTimeForget) {
  FakeClock clock;
  FailureTable table(clock);
  FailTimes(&table, "ann", FailureTable::kFreeFailures);
  table.Succeeded("ann", "10.0.0.1");
  EXPECT_EQ(table.BlockedForMs("ann", "10.0.0.1"), 0u);
  FailTimes(&table, "ann", FailureTable::kFreeFailures - 1);
  clock.AdvanceMs(FailureTable::kForgetAfterMs + 1);
  table.Failed("ann", "10.0.0.1");
  EXPECT_EQ(table.BlockedForMs("ann", "10.0.0.1"), 0u);
}

TEST(FailureTableTest, ForgetsTheOldestWhenFull) {
  FakeClock clock;
  FailureTable table(clock);
  FailTimes(&table, "first", FailureTable::kFreeFailures);
  FailTimes(&table, "second", FailureTable::kFreeFailures);
  table.Failed("first", "10.0.0.1");
  for (size_t i = 0; i < FailureTable::kMaxEntries - 1; ++i) {
    table.Failed("user" + std::to_string(i), "10.0.0.1");
  }
  EXPECT_EQ(table.BlockedForMs("second", "10.0.0.1"), 0u);
  EXPECT_GT(table.BlockedForMs("first", "10.0.0.1"), 0u);
}

}  // namespace
}  // namespace sluice::auth
