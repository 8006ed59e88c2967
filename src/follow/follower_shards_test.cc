// A ParallelFollower in several shards, which come and go.
#include <future>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/locked.h"
#include "base/random.h"
#include "follow/parallel_follower.h"
#include "follow/test_log.h"
#include "follow/test_processor.h"

namespace sluice::follow {
namespace {

constexpr uint16_t kLanesOfAll = 8;
constexpr db::ShardId kShards = 3;

uint16_t LaneOfFirstByte(std::string_view key) {
  return static_cast<uint16_t>(static_cast<uint8_t>(key[0]) % kLanesOfAll);
}

// Logs of several shards. A commit to a shard that is not owned is a failure of the test.
class FakeShards final : public CommitSink {
 public:
  FakeShards() {
    for (db::ShardId shard = 0; shard < kShards; ++shard) {
      logs_.push_back(std::make_unique<FakeLog>(shard));
    }
  }
  FakeLog& operator[](db::ShardId shard) { return *logs_[shard]; }
  void Give(db::ShardId shard) { owned_.Lock()->insert(shard); }
  void Take(db::ShardId shard) { owned_.Lock()->erase(shard); }

  Status Apply(db::Commit commit) override {
    EXPECT_TRUE(owned_.Lock()->contains(commit.shard)) << "a commit in shard " << commit.shard;
    return logs_[commit.shard]->Apply(std::move(commit));
  }

 private:
  std::vector<std::unique_ptr<FakeLog>> logs_;
  Locked<std::set<db::ShardId>> owned_;
};

class FollowerShardsTest : public testing::Test {
 protected:
  void Start(size_t workers) {
    std::vector<ParallelFollower::Code> code;
    for (size_t i = 0; i < workers; ++i) {
      processors_.push_back(std::make_unique<FakeProcessor>(clock_));
      policies_.push_back(std::make_unique<FakePolicy>());
      code.push_back({*processors_.back(), *policies_.back()});
    }
    follower_ = std::make_unique<ParallelFollower>(ParallelFollower::Options{
        .sink = shards_,
        .rules = {.lanes = kLanesOfAll,
                  .lane_of = [](const db::Change& change) { return LaneOfFirstByte(change.key); },
                  .make_event = MakeFakeEvent},
        .workers = std::move(code),
        .reader_name = {"test read"},
        .worker_name = {"test work"},
        .failed =
            [this](db::ShardId shard, const Status& status) {
              failed_.set_value({shard, std::string(status.id())});
            },
        .clock = clock_});
  }
  void Gain(db::ShardId shard) {
    shards_.Give(shard);
    const Status followed = follower_->Follow(shards_[shard].NewSource());
    ASSERT_TRUE(followed.ok()) << followed.ToString();
  }
  void Lose(db::ShardId shard) {
    follower_->Leave(shard);
    shards_.Take(shard);
  }
  void Add(db::ShardId shard, std::string key, std::string body = "") {
    shards_[shard].Add(std::move(key), std::move(body));
    follower_->Wake();
  }
  void Settle() {
    while (!follower_->caught_up()) std::this_thread::yield();
  }
  // What was written in a shard, by the first letter of the key.
  std::map<char, std::string> WrittenByLane(db::ShardId shard) {
    std::map<char, std::string> lanes;
    for (const auto& keys : shards_[shard].written()) {
      for (const std::string& key : keys) lanes[key[0]] += key.substr(1) + " ";
    }
    return lanes;
  }
  void AwaitRun(const std::string& key) {
    const auto ran = [&] {
      return std::ranges::any_of(processors_, [&](const auto& processor) {
        return std::ranges::count(processor->ran(), key) > 0;
      });
    };
    while (!ran()) std::this_thread::yield();
  }

  FakeShards shards_;
  JumpingClock clock_;
  std::vector<std::unique_ptr<FakeProcessor>> processors_;
  std::vector<std::unique_ptr<FakePolicy>> policies_;
  std::promise<std::pair<db::ShardId, std::string>> failed_;
  std::unique_ptr<ParallelFollower> follower_;
};

std::string Counted(int count) {
  std::string numbers;
  for (int i = 0; i < count; ++i) numbers += std::to_string(i) + " ";
  return numbers;
}

TEST_F(FollowerShardsTest, AllShardsAreServedByTheSameWorkers) {
  Start(2);
  for (db::ShardId shard = 0; shard < kShards; ++shard) Gain(shard);
  for (int i = 0; i < 300; ++i) {
    for (db::ShardId shard = 0; shard < kShards; ++shard) {
      Add(shard, "a" + std::to_string(i));
      Add(shard, "b" + std::to_string(i));
    }
  }
  Settle();
  for (db::ShardId shard = 0; shard < kShards; ++shard) {
    EXPECT_EQ(WrittenByLane(shard)['a'], Counted(300)) << shard;
    EXPECT_EQ(WrittenByLane(shard)['b'], Counted(300)) << shard;
    EXPECT_EQ(shards_[shard].cursor(LaneOfFirstByte("a")).events, 300u) << shard;
  }
}

TEST_F(FollowerShardsTest, AFollowerOfNoShardHasCaughtUp) {
  Start(1);
  Settle();
  Gain(1);
  Add(1, "a0");
  Settle();
  Lose(1);
  Settle();
  EXPECT_EQ(WrittenByLane(1)['a'], "0 ");
}

TEST_F(FollowerShardsTest, ARunThatHangsEndsWithItsShardAndTheOthersGoOn) {
  Start(1);
  Gain(0);
  Gain(1);
  Add(0, "a0", "hangs");
  AwaitRun("a0");
  Add(1, "a0");
  Add(0, "a1");
  Lose(0);
  Settle();
  EXPECT_EQ(WrittenByLane(1)['a'], "0 ") << "the worker is free again";
  EXPECT_TRUE(WrittenByLane(0).empty());
  EXPECT_GE(processors_[0]->let_go(), 2u) << "the event that hung, and the one of shard 1";
}

TEST_F(FollowerShardsTest, AWorkerThatWaitsForItsTurnLeavesAtOnce) {
  Start(2);
  Gain(0);
  Gain(1);
  // Both workers take turns from now on: lane 1 has one of them, lane 2 the other.
  shards_[0].Refuse(Error(Code::kConflict, "test.conflict", "somebody was faster"));
  Add(0, "a0");
  Settle();
  Add(1, "a1", "hangs");
  AwaitRun("a1");
  Add(0, "b0");
  Lose(0);
  Add(1, "b1");
  Lose(1);
  EXPECT_EQ(WrittenByLane(0)['a'], "0 ");
}

TEST_F(FollowerShardsTest, AFailureEndsItInThatShardOnly) {
  Start(1);
  Gain(0);
  Gain(1);
  Add(0, "a0");
  Settle();
  shards_[0].MoveCursor(LaneOfFirstByte("a"), 77);
  Add(0, "a1");
  const auto failed = failed_.get_future().get();
  EXPECT_EQ(failed.first, 0);
  EXPECT_EQ(failed.second, "cursor.moved");
  Add(1, "a0");
  while (WrittenByLane(1)['a'] != "0 ") std::this_thread::yield();
  EXPECT_FALSE(follower_->caught_up());
  Lose(0);
  Settle();
  shards_[0].MoveCursor(LaneOfFirstByte("a"), 1);
  Gain(0);
  Settle();
  EXPECT_EQ(WrittenByLane(0)['a'], "0 1 ") << "it was given back";
}

TEST_F(FollowerShardsTest, EveryEventTakesEffectOnceWhateverShardsItHas) {
  constexpr int kEvents = 3000;  // of each shard
  Random random(11);
  Start(3);
  std::set<db::ShardId> has;
  std::vector<int> added(kShards);
  const auto all_added = [&] {
    return std::ranges::all_of(added, [](int count) { return count == kEvents; });
  };
  while (!all_added()) {
    const auto shard = static_cast<db::ShardId>(random.Below(kShards));
    if (random.OneIn(4)) {
      shards_[shard].Refuse(Error(Code::kConflict, "test.conflict", "somebody was faster"),
                            1 + static_cast<int>(random.Below(3)));
    }
    for (int i = static_cast<int>(random.Below(200)); i > 0 && added[shard] < kEvents; --i) {
      const char lane = static_cast<char>('a' + added[shard] % kLanesOfAll);
      Add(shard, lane + std::to_string(added[shard] / kLanesOfAll));
      ++added[shard];
    }
    const auto other = static_cast<db::ShardId>(random.Below(kShards));
    if (has.insert(other).second) {
      Gain(other);
    } else if (random.OneIn(2)) {
      Lose(other);
      has.erase(other);
    }
    if (random.OneIn(8)) Settle();
  }
  for (db::ShardId shard = 0; shard < kShards; ++shard) {
    if (has.insert(shard).second) Gain(shard);
  }
  Settle();
  for (db::ShardId shard = 0; shard < kShards; ++shard) {
    for (int lane = 0; lane < kLanesOfAll; ++lane) {
      EXPECT_EQ(WrittenByLane(shard)[static_cast<char>('a' + lane)], Counted(kEvents / kLanesOfAll))
          << "lane " << lane << " of shard " << shard;
    }
  }
}

}  // namespace
}  // namespace sluice::follow
