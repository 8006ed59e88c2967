#include "follow/commit_wake.h"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::follow {
namespace {

// Tells its listeners of the commits that a test makes.
class FakeCommits final : public CommitSource {
 public:
  explicit FakeCommits(uint16_t shards) : listeners_(shards) {}

  uint16_t shard_count() const override { return static_cast<uint16_t>(listeners_.size()); }
  std::shared_ptr<void> OnCommitted(db::ShardId shard, db::CommitListener listener) override {
    const auto kept = std::make_shared<db::CommitListener>(std::move(listener));
    listeners_[shard].push_back(kept);
    return kept;
  }

  void Commit(db::ShardId shard, std::vector<db::KeyspaceId> keyspaces) {
    const db::Committed committed{++sequence_, std::move(keyspaces)};
    for (const auto& weak : listeners_[shard]) {
      if (const auto listener = weak.lock()) (*listener)(committed);
    }
  }
  size_t listening(db::ShardId shard) const {
    return static_cast<size_t>(
        std::ranges::count_if(listeners_[shard], [](const auto& weak) { return !weak.expired(); }));
  }

 private:
  std::vector<std::vector<std::weak_ptr<db::CommitListener>>> listeners_;
  db::Sequence sequence_ = 0;
};

constexpr db::KeyspaceId kOrders = 7;
constexpr db::KeyspaceId kStock = 8;
constexpr db::KeyspaceId kOther = 9;

TEST(CommitWake, WakesTheFollowersOfAChangedKeyspaceOnly) {
  FakeCommits commits(1);
  CommitWake wake(commits);
  int orders = 0;
  int stock = 0;
  const auto first = wake.Subscribe(std::vector{kOrders}, [&] { ++orders; });
  const auto second = wake.Subscribe(std::vector{kOrders, kStock}, [&] { ++stock; });
  commits.Commit(0, {kOrders});
  EXPECT_EQ(orders, 1);
  EXPECT_EQ(stock, 1);
  commits.Commit(0, {kStock});
  EXPECT_EQ(orders, 1);
  EXPECT_EQ(stock, 2);
  commits.Commit(0, {kOther});
  commits.Commit(0, {});
  EXPECT_EQ(orders, 1);
  EXPECT_EQ(stock, 2);
}

TEST(CommitWake, ListensOnceToEachShard) {
  FakeCommits commits(3);
  CommitWake wake(commits);
  int woken = 0;
  std::vector<CommitWake::Subscription> subscriptions;
  for (int i = 0; i < 5; ++i) {
    subscriptions.push_back(wake.Subscribe(std::vector{kOrders}, [&] { ++woken; }));
  }
  for (db::ShardId shard = 0; shard < 3; ++shard) {
    EXPECT_EQ(commits.listening(shard), 1U);
    commits.Commit(shard, {kOrders});
  }
  EXPECT_EQ(woken, 15);
}

TEST(CommitWake, SubscribersToAllHearOfEveryGroup) {
  FakeCommits commits(2);
  CommitWake wake(commits);
  std::vector<std::vector<db::KeyspaceId>> heard;
  const auto subscription = wake.SubscribeToAll(
      [&](const db::Committed& committed) { heard.push_back(committed.keyspaces); });
  commits.Commit(0, {kOrders, kStock});
  commits.Commit(1, {});
  EXPECT_EQ(heard, (std::vector<std::vector<db::KeyspaceId>>{{kOrders, kStock}, {}}));
}

TEST(CommitWake, WakesNobodyWhoseSubscriptionIsGone) {
  FakeCommits commits(1);
  CommitWake wake(commits);
  int dropped = 0;
  int kept = 0;
  int all = 0;
  auto first = wake.Subscribe(std::vector{kOrders}, [&] { ++dropped; });
  const auto second = wake.Subscribe(std::vector{kOrders}, [&] { ++kept; });
  auto third = wake.SubscribeToAll([&](const db::Committed&) { ++all; });
  first.reset();
  third.reset();
  commits.Commit(0, {kOrders});
  EXPECT_EQ(dropped, 0);
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(all, 0);
}

// A follower of a pattern subscribes again when a keyspace is made: no commit is missed between.
TEST(CommitWake, ANewSubscriptionReplacesTheOldOneWithoutAGap) {
  FakeCommits commits(1);
  CommitWake wake(commits);
  int woken = 0;
  auto subscription = wake.Subscribe(std::vector{kOrders}, [&] { ++woken; });
  subscription = wake.Subscribe(std::vector{kOrders, kStock}, [&] { ++woken; });
  commits.Commit(0, {kOrders});
  commits.Commit(0, {kStock});
  EXPECT_EQ(woken, 2);
}

TEST(CommitWake, ASubscriptionMayOutliveIt) {
  FakeCommits commits(1);
  CommitWake::Subscription subscription;
  int woken = 0;
  {
    CommitWake wake(commits);
    subscription = wake.Subscribe(std::vector{kOrders}, [&] { ++woken; });
  }
  EXPECT_EQ(commits.listening(0), 0U);
  commits.Commit(0, {kOrders});
  EXPECT_EQ(woken, 0);
  subscription.reset();
}

}  // namespace
}  // namespace sluice::follow
