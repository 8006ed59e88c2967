#include "follow/parallel_follower.h"

#include <algorithm>
#include <future>
#include <map>
#include <semaphore>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"
#include "follow/test_log.h"
#include "follow/test_processor.h"

namespace sluice::follow {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr uint16_t kLanes = 8;
constexpr db::ShardId kShard = 2;

uint16_t LaneOfKey(std::string_view key) {
  return static_cast<uint16_t>(static_cast<uint8_t>(key[0]) % kLanes);
}

// Its first event of each key waits for Go. Takes events of other keys as they come.
class FakeBorrower final : public Borrower {
 public:
  explicit FakeBorrower(std::string key) : key_(std::move(key)) {}

  bool Take(EventPtr& event, LaneWorker& from) override {
    if (took_ || static_cast<FakeEvent&>(*event).key != key_) return false;
    took_ = true;
    event_ = std::move(event);
    from_ = &from;
    taken_.release();
    return true;
  }
  void AwaitTaken() { taken_.acquire(); }
  void GiveBack() { from_->GiveBack(std::move(event_)); }

 private:
  const std::string key_;
  bool took_ = false;
  EventPtr event_;
  LaneWorker* from_ = nullptr;
  std::counting_semaphore<> taken_{0};
};

class ParallelFollowerTest : public testing::Test {
 protected:
  void Start(size_t workers, Borrower* borrower = nullptr) {
    std::vector<ParallelFollower::Code> code;
    follower_.reset();
    processors_.clear();
    policies_.clear();
    for (size_t i = 0; i < workers; ++i) {
      processors_.push_back(std::make_unique<FakeProcessor>(clock_));
      policies_.push_back(std::make_unique<FakePolicy>());
      code.push_back({*processors_.back(), *policies_.back()});
    }
    follower_ = std::make_unique<ParallelFollower>(ParallelFollower::Options{
        .sink = log_,
        .rules = {.lanes = kLanes,
                  .lane_of = [](const db::Change& change) { return LaneOfKey(change.key); },
                  .make_event = MakeFakeEvent},
        .workers = std::move(code),
        .reader_name = {"test read"},
        .worker_name = {"test work"},
        .failed =
            [this](db::ShardId shard, const Status& status) {
              EXPECT_EQ(shard, kShard);
              failed_.set_value(status);
            },
        .borrower = borrower,
        .rest_after = std::chrono::seconds(10),
        .clock = clock_});
    const Status followed = follower_->Follow(log_.NewSource());
    ASSERT_TRUE(followed.ok()) << followed.ToString();
  }
  void Add(std::string key, std::string body = "") {
    log_.Add(std::move(key), std::move(body));
    if (follower_ != nullptr) follower_->Wake();
  }
  void Settle() {
    while (!follower_->caught_up()) std::this_thread::yield();
  }
  // What was written, by the first letter of the key.
  std::map<char, std::string> WrittenByLane() const {
    std::map<char, std::string> lanes;
    for (const auto& keys : log_.written()) {
      for (const std::string& key : keys) lanes[key[0]] += key.substr(1) + " ";
    }
    return lanes;
  }
  size_t Events() const {
    size_t events = 0;
    for (const auto& keys : log_.written()) events += keys.size();
    return events;
  }

  FakeLog log_{kShard};
  JumpingClock clock_;
  std::vector<std::unique_ptr<FakeProcessor>> processors_;
  std::vector<std::unique_ptr<FakePolicy>> policies_;
  std::promise<Status> failed_;
  std::unique_ptr<ParallelFollower> follower_;
};

std::string Numbers(int count) {
  std::string numbers;
  for (int i = 0; i < count; ++i) numbers += std::to_string(i) + " ";
  return numbers;
}

TEST_F(ParallelFollowerTest, EventsOfALaneRunInOrderAndOnce) {
  for (size_t workers : {1, 3, 8}) {
    const size_t before = Events();
    Start(workers);
    for (int i = 0; i < 500; ++i) {
      for (const char lane : {'a', 'b', 'c', 'd'}) Add(lane + std::to_string(i));
    }
    Settle();
    EXPECT_EQ(Events() - before, 2000u);
    follower_.reset();
  }
  EXPECT_EQ(WrittenByLane()['c'], Numbers(500) + Numbers(500) + Numbers(500));
  EXPECT_EQ(log_.cursor(LaneOfKey("a")).events, 1500u);
}

TEST_F(ParallelFollowerTest, LanesThatHeardNothingFollowTheOthers) {
  Start(2);
  for (int i = 0; i < 10; ++i) Add("a" + std::to_string(i));
  Settle();
  follower_.reset();
  Start(2);
  Settle();
  for (uint16_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(log_.cursor(lane).position.sequence, 10u) << lane;
  }
}

// Each lane goes on where it was, whatever the others have done.
TEST_F(ParallelFollowerTest, ARestartRepeatsNothingAndLeavesNothingOut) {
  for (int i = 0; i < 4; ++i) {
    log_.Add("a" + std::to_string(i));
    log_.Add("b" + std::to_string(i));
  }
  log_.MoveCursor(LaneOfKey("a"), 5);
  Start(2);
  Settle();
  EXPECT_EQ(WrittenByLane()['a'], "3 ");
  EXPECT_EQ(WrittenByLane()['b'], Numbers(4));
}

TEST_F(ParallelFollowerTest, OfferedEventsRunAndMoveNoCursor) {
  Start(2);
  Settle();
  auto timer = std::make_unique<FakeEvent>();
  timer->from_log = false;
  timer->shard = kShard;
  timer->lane = 3;
  timer->key = "timer";
  EventPtr event = std::move(timer);
  ASSERT_TRUE(follower_->Offer(event));
  while (Events() == 0) std::this_thread::yield();
  EXPECT_THAT(log_.written(), ElementsAre(ElementsAre("timer")));
  EXPECT_EQ(log_.cursor(3).events, 0u);
}

TEST_F(ParallelFollowerTest, WorkersTakeTurnsAfterAConflict) {
  log_.Refuse(Error(Code::kConflict, "test.conflict", "somebody was faster"), 5);
  Start(4);
  for (int i = 0; i < 300; ++i) Add(std::string(1, static_cast<char>('a' + i % 8)) + "x");
  Settle();
  EXPECT_EQ(Events(), 300u);
  size_t refused = 0;
  for (const auto& processor : processors_) refused += processor->refused().size();
  EXPECT_EQ(refused, 5u);
}

TEST_F(ParallelFollowerTest, ItFailsOnceWhenSomebodyElseHasIt) {
  Start(2);
  Settle();
  log_.MoveCursor(LaneOfKey("a"), 77);
  log_.MoveCursor(LaneOfKey("b"), 77);
  Add("a");
  Add("b");
  EXPECT_EQ(failed_.get_future().get().id(), "cursor.moved");
  follower_->Stop();
}

TEST_F(ParallelFollowerTest, ALentLaneWaitsAndTheOthersGoOn) {
  FakeBorrower borrower("a1");
  Start(1, &borrower);
  Add("a0");
  Settle();
  Add("a1");
  borrower.AwaitTaken();
  for (const char* key : {"a2", "b0", "a3", "b1"}) Add(key);
  while (WrittenByLane()['b'] != "0 1 ") std::this_thread::yield();
  EXPECT_EQ(WrittenByLane()['a'], "0 ");
  EXPECT_FALSE(follower_->caught_up());
  borrower.GiveBack();
  Settle();
  EXPECT_EQ(WrittenByLane()['a'], Numbers(4));
}

// A borrower may be ready for the next event before it has given back the one that it took.
TEST_F(ParallelFollowerTest, AWorkerLendsOneEventAtATime) {
  class Greedy final : public Borrower {
   public:
    bool Take(EventPtr& event, LaneWorker& from) override {
      taken_.push_back(std::move(event));
      from_ = &from;
      first_.release();
      return true;
    }
    void AwaitTaken() { first_.acquire(); }
    void GiveBack() { from_->GiveBack(std::move(taken_.front())); }

   private:
    std::vector<EventPtr> taken_;
    LaneWorker* from_ = nullptr;
    std::counting_semaphore<> first_{0};
  };
  Greedy borrower;
  Start(1, &borrower);
  Add("a0");
  borrower.AwaitTaken();
  Add("b0");
  while (WrittenByLane()['b'] != "0 ") std::this_thread::yield();
  follower_->RequestStop();
  borrower.GiveBack();
  follower_->Stop();
  EXPECT_EQ(Events(), 1u);
}

TEST_F(ParallelFollowerTest, AStopDropsWhatWaitsAndLetsGoOfIt) {
  FakeBorrower borrower("a0");
  Start(1, &borrower);
  Add("a0");
  borrower.AwaitTaken();
  for (int i = 1; i < 6; ++i) Add("a" + std::to_string(i));
  follower_->RequestStop();
  borrower.GiveBack();
  follower_->Stop();
  EXPECT_EQ(Events(), 0u);
  EXPECT_LE(processors_[0]->let_go(), 6u);
  EXPECT_GE(processors_[0]->let_go(), 1u);
  Start(1);
  Settle();
  EXPECT_EQ(WrittenByLane()['a'], Numbers(6));
}

// The shard is taken away and given back at random moments, while commits are refused now and then.
TEST_F(ParallelFollowerTest, EveryEventTakesEffectOnceWheneverItIsStopped) {
  constexpr int kEvents = 2000;
  Random random(7);
  int added = 0;
  while (added < kEvents) {
    log_.Refuse(Error(Code::kConflict, "test.conflict", "somebody was faster"),
                static_cast<int>(random.Below(3)));
    Start(1 + random.Below(4));
    for (const int until = std::min<int>(kEvents, added + 1 + static_cast<int>(random.Below(300)));
         added < until; ++added) {
      Add(std::string(1, static_cast<char>('a' + added % kLanes)) + std::to_string(added / kLanes));
    }
    if (random.OneIn(2)) std::this_thread::yield();
    if (random.OneIn(4)) Settle();
    follower_->Stop();
  }
  Start(2);
  Settle();
  for (int lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(WrittenByLane()[static_cast<char>('a' + lane)], Numbers(kEvents / kLanes)) << lane;
  }
}

TEST_F(ParallelFollowerTest, AWorkerWithNothingToDoRests) {
  Start(1);
  Add("a0");
  Settle();
  while (processors_[0]->rests() == 0) std::this_thread::yield();
}

TEST_F(ParallelFollowerTest, ThereIsNoFollowerWithoutCursors) {
  Start(1);
  log_.DropFollower();
  follower_->Leave(kShard);
  EXPECT_EQ(follower_->Follow(log_.NewSource()).id(), "cursor.not_found");
}

}  // namespace
}  // namespace sluice::follow
