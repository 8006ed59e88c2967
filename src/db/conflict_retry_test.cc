#include "db/conflict_retry.h"

#include <gtest/gtest.h>

namespace sluice::db {
namespace {

using std::chrono::microseconds;

const Status kConflict = Error(Code::kConflict, "test.conflict", "somebody was faster");

TEST(ConflictRetryTest, OnlyAConflictIsRunAgain) {
  ConflictRetry retry;
  EXPECT_FALSE(retry.Again(OkStatus()));
  EXPECT_FALSE(retry.Again(Error(Code::kNotFound, "test.gone", "gone")));
  EXPECT_EQ(retry.attempt(), 1);
  EXPECT_TRUE(retry.Again(kConflict));
  EXPECT_EQ(retry.attempt(), 2);
}

TEST(ConflictRetryTest, GivesUpAtTheBound) {
  const JumpingClock clock;
  const Clock::Time start = clock.Now();
  ConflictRetry retry(clock);
  int runs = 1;
  microseconds pauses{0};
  while (retry.Again(kConflict)) pauses += ConflictRetry::PauseAfter(runs++);
  EXPECT_EQ(runs, ConflictRetry::kMostAttempts);
  EXPECT_EQ(clock.Now() - start, pauses);
}

TEST(ConflictRetryTest, PausesGrowToABound) {
  EXPECT_EQ(ConflictRetry::PauseAfter(1), microseconds(0));
  EXPECT_EQ(ConflictRetry::PauseAfter(2), microseconds(200));
  EXPECT_EQ(ConflictRetry::PauseAfter(3), microseconds(400));
  EXPECT_EQ(ConflictRetry::PauseAfter(99), microseconds(25'600));
}

}  // namespace
}  // namespace sluice::db
