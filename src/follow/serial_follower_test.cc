#include "follow/serial_follower.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "follow/test_log.h"
#include "follow/test_processor.h"

namespace sluice::follow {
namespace {

using State = SerialFollower::Stepped::State;
using testing::ElementsAre;
using Keys = std::vector<std::string>;

const Status kConflict = Error(Code::kConflict, "test.conflict", "somebody was faster");
const Status kNoRoom = Error(Code::kNoSpace, "test.no_space", "the disk is full");
const Status kTooLarge = Error(Code::kTooLarge, "test.too_large", "too much");

class SerialFollowerTest : public testing::Test {
 protected:
  // Steps until there is nothing to do, as a thread would: pauses take no time.
  void Settle() {
    for (int i = 0; i < 10'000; ++i) {
      const auto stepped = follower_.Step();
      ASSERT_NE(stepped.state, State::kEnded) << stepped.why.ToString();
      if (stepped.state == State::kIdle) return;
      if (stepped.until) WaitUntil(*stepped.until);
    }
    FAIL() << "it does not come to rest";
  }
  void WaitUntil(Clock::Time time) {
    if (time <= clock_.Now()) return;
    paused_ += time - clock_.Now();
    clock_.Advance(time - clock_.Now());
  }
  void AddMany(size_t count) {
    for (size_t i = 0; i < count; ++i) log_.Add(std::to_string(i));
  }
  std::vector<size_t> BatchSizes() const {
    std::vector<size_t> sizes;
    for (const auto& keys : log_.written()) sizes.push_back(keys.size());
    return sizes;
  }
  Keys Written() const {
    Keys all;
    for (const auto& keys : log_.written()) all.insert(all.end(), keys.begin(), keys.end());
    return all;
  }

  static constexpr db::ShardId kShard = 3;  // not the first one
  FakeLog log_{kShard};
  JumpingClock clock_;
  FakeProcessor processor_{clock_};
  FakePolicy policy_;
  bool stopping_ = false;
  std::chrono::nanoseconds paused_{0};
  SerialFollower follower_{{.processor = processor_,
                            .failures = policy_,
                            .sink = log_,
                            .clock = clock_,
                            .stopping = [this] { return stopping_; }},
                           [this] { return LaneQueue::Open(log_.NewSource(), MakeFakeEvent); }};
};

TEST_F(SerialFollowerTest, BatchesGrowWhileEventsPileUp) {
  AddMany(1000);
  Settle();
  EXPECT_THAT(BatchSizes(), ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 489));
  EXPECT_EQ(log_.cursor().position.sequence, 1000u);
  EXPECT_EQ(log_.cursor().events, 1000u);
  EXPECT_EQ(paused_.count(), 0);
}

TEST_F(SerialFollowerTest, NobodyWaitsForABatchToFill) {
  for (int i = 0; i < 3; ++i) {
    log_.Add(std::to_string(i));
    Settle();
  }
  EXPECT_THAT(BatchSizes(), ElementsAre(1, 1, 1));
  EXPECT_EQ(paused_.count(), 0);
}

TEST_F(SerialFollowerTest, AConflictRunsAgainAtOnceThenWithPausesAndHalfAsManyEvents) {
  AddMany(15);
  Settle();
  log_.Refuse(kConflict, 3);
  AddMany(16);
  Settle();
  EXPECT_THAT(BatchSizes(), ElementsAre(1, 2, 4, 8, 2, 4, 8, 2));
  EXPECT_EQ(processor_.refused().size(), 3u);
  EXPECT_TRUE(policy_.troubles.empty());
  using std::chrono::microseconds;
  EXPECT_EQ(paused_, db::ConflictRetry::PauseAfter(2) + db::ConflictRetry::PauseAfter(3));
}

TEST_F(SerialFollowerTest, AnEventInConflictIsTriedOnUntilTheBoundAndThenIsTrouble) {
  log_.Add("a");
  log_.Refuse(kConflict, BatchRunner::kMostConflicts);
  Settle();
  EXPECT_THAT(policy_.troubles,
              ElementsAre(std::pair(Trouble::kRefused, std::string("test.conflict"))));
  EXPECT_THAT(Written(), ElementsAre("a"));
  EXPECT_EQ(processor_.ran().size(), BatchRunner::kMostConflicts + 1u);
}

TEST_F(SerialFollowerTest, NothingPassesAnEventThatFails) {
  processor_.Break("1");
  AddMany(4);
  for (int i = 0; i < 20; ++i) {
    const auto stepped = follower_.Step();
    if (stepped.until) WaitUntil(*stepped.until);
  }
  EXPECT_THAT(Written(), ElementsAre("0"));
  EXPECT_EQ(log_.cursor().position.sequence, 1u);
  EXPECT_GT(paused_, std::chrono::minutes(2));
  EXPECT_GE(policy_.pauses.attempts(), 15u);
  processor_.Mend("1");
  Settle();
  EXPECT_THAT(Written(), ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(policy_.pauses.attempts(), 0u);
}

TEST_F(SerialFollowerTest, WhatCameBeforeAFailureIsCommitted) {
  AddMany(3);
  Settle();
  processor_.Break("c");
  for (const char* key : {"a", "b", "c", "d"}) log_.Add(key);
  const auto stepped = follower_.Step();
  EXPECT_EQ(stepped.state, State::kPaused);
  EXPECT_THAT(log_.written().back(), ElementsAre("a", "b"));
  processor_.Mend("c");
  Settle();
  EXPECT_THAT(Written(), ElementsAre("0", "1", "2", "a", "b", "c", "d"));
}

TEST_F(SerialFollowerTest, TooMuchForOneCommitIsHalvedWithoutAPause) {
  AddMany(15);
  Settle();
  log_.Refuse(kTooLarge, 2);
  AddMany(16);
  Settle();
  EXPECT_EQ(paused_.count(), 0);
  EXPECT_TRUE(policy_.troubles.empty());
  EXPECT_EQ(Written().size(), 31u);
}

TEST_F(SerialFollowerTest, AnEventThatIsRefusedAloneIsTrouble) {
  log_.Add("a");
  log_.Refuse(kTooLarge);
  Settle();
  EXPECT_THAT(policy_.troubles,
              ElementsAre(std::pair(Trouble::kRefused, std::string("test.too_large"))));
  EXPECT_THAT(Written(), ElementsAre("a"));
}

TEST_F(SerialFollowerTest, ADatabaseThatCantCommitIsWaitedFor) {
  AddMany(3);
  log_.Refuse(kNoRoom, 2);
  Settle();
  EXPECT_EQ(policy_.troubles.size(), 2u);
  EXPECT_EQ(policy_.troubles[0].first, Trouble::kDatabase);
  EXPECT_EQ(Written().size(), 3u);
  EXPECT_GE(paused_, GrowingPauses::kFirst);
}

TEST_F(SerialFollowerTest, AnEventThatTakesLongRunsAlone) {
  AddMany(7);
  Settle();
  for (const char* key : {"a", "b"}) log_.Add(key);
  log_.Add("c", "alone");
  log_.Add("d");
  Settle();
  const auto written = log_.written();
  EXPECT_THAT(written[3], ElementsAre("a", "b"));
  EXPECT_THAT(written[4], ElementsAre("c", "d"));
}

TEST_F(SerialFollowerTest, SlowRunsAreNotHeldBackForEachOther) {
  AddMany(15);
  Settle();
  for (int i = 0; i < 8; ++i) log_.Add("s", "slow");
  Settle();
  // Four take 20 ms; from then on each is committed by itself.
  EXPECT_THAT(BatchSizes(), ElementsAre(1, 2, 4, 8, 4, 1, 1, 1, 1));
}

TEST_F(SerialFollowerTest, AProcessorEndsABatch) {
  AddMany(7);
  Settle();
  log_.Add("a", "last");
  log_.Add("b");
  log_.Add("c");
  Settle();
  EXPECT_THAT(BatchSizes(), ElementsAre(1, 2, 4, 1, 2));
  processor_.most = 2;
  AddMany(5);
  Settle();
  EXPECT_THAT(BatchSizes(), ElementsAre(1, 2, 4, 1, 2, 2, 2, 1));
}

TEST_F(SerialFollowerTest, AnIdleFollowerStoresItsPlaceAfterAWhile) {
  log_.Add("a");
  Settle();
  for (int i = 0; i < 5; ++i) log_.Add("x", "left out");
  const auto idle = follower_.Step();
  EXPECT_EQ(idle.state, State::kIdle);
  ASSERT_TRUE(idle.until);
  EXPECT_EQ(*idle.until - clock_.Now(), SerialFollower::kStoreInterval);
  EXPECT_EQ(log_.cursor().position.sequence, 1u);
  WaitUntil(*idle.until);
  const auto stored = follower_.Step();
  EXPECT_EQ(stored.state, State::kIdle);
  EXPECT_FALSE(stored.until);
  EXPECT_EQ(log_.cursor().position.sequence, 6u);
  EXPECT_EQ(log_.cursor().events, 1u);
  // Then there is nothing to do, for however long.
  EXPECT_FALSE(follower_.Step().until);
  EXPECT_EQ(log_.commits(), 2u);
}

TEST_F(SerialFollowerTest, ABatchAlsoPassesWhatIsLeftOutBehindIt) {
  log_.Add("a");
  log_.Add("x", "left out");
  Settle();
  EXPECT_EQ(log_.cursor().position.sequence, 2u);
  EXPECT_EQ(log_.commits(), 1u);
}

TEST_F(SerialFollowerTest, ItEndsWhenSomebodyElseHasItsCursor) {
  AddMany(3);
  ASSERT_EQ(follower_.Step().state, State::kWorked);
  log_.MoveCursor(0, 2);
  const auto stepped = follower_.Step();
  EXPECT_EQ(stepped.state, State::kEnded);
  EXPECT_EQ(stepped.why.id(), "cursor.moved");
  EXPECT_THAT(Written(), ElementsAre("0"));
}

TEST_F(SerialFollowerTest, ItEndsWhenItsFollowerWasDropped) {
  log_.DropFollower();
  const auto stepped = follower_.Step();
  EXPECT_EQ(stepped.state, State::kEnded);
  EXPECT_EQ(stepped.why.id(), "cursor.not_found");
}

TEST_F(SerialFollowerTest, AStopLeavesTheEventsToTheNextStart) {
  AddMany(3);
  stopping_ = true;
  const auto stepped = follower_.Step();
  EXPECT_EQ(stepped.state, State::kEnded);
  EXPECT_TRUE(stepped.why.ok());
  EXPECT_EQ(log_.commits(), 0u);
}

TEST_F(SerialFollowerTest, APolicyMayEndIt) {
  policy_.end = true;
  log_.Add("a", "fail");
  const auto stepped = follower_.Step();
  EXPECT_EQ(stepped.state, State::kEnded);
  EXPECT_EQ(stepped.why.id(), "procedure.failed");
}

TEST_F(SerialFollowerTest, AChangeThatIsNoEventIsTriedAgainAndNeverPassed) {
  log_.Add("a");
  log_.Add("b", "unreadable");
  log_.Add("c");
  for (int i = 0; i < 10; ++i) follower_.Step();
  EXPECT_LE(log_.cursor().position.sequence, 1u);
  EXPECT_EQ(policy_.troubles.back().second, "procedure.failed");
  EXPECT_EQ(std::ranges::count(processor_.ran(), "c"), 0);
}

TEST_F(SerialFollowerTest, WhatWasReadIsForgottenOnDemand) {
  AddMany(2);
  ASSERT_TRUE(follower_.Queue().has_value());
  const auto head = (*follower_.Queue())->Next();
  ASSERT_TRUE(head && *head != nullptr);
  log_.MoveCursor(0, 1);
  follower_.Forget();
  Settle();
  EXPECT_THAT(Written(), ElementsAre("1"));
}

}  // namespace
}  // namespace sluice::follow
