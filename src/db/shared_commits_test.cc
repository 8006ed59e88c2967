// Commits over several shards: all or nothing, whatever fails and wherever the process ends.
#include "db/shared_commits.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <random>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "base/random.h"
#include "db/database_impl.h"
#include "db/feed.h"
#include "db/shared_rows.h"
#include "db/test_database.h"
#include "db/test_formats.h"
#include "db/test_shared_log.h"
#include "db/test_standby.h"
#include "db/transaction.h"

namespace sluice::db {
namespace {

TEST(SharedRowsFormat, Golden) {
  const PreparedGroup prepared{.id = 0x0102, .decided_in = 3, .after = 4, .group = "g"};
  EXPECT_EQ(ToHex(prepared.Encode()), "010000000000000102000300000000000000040167");
  ExpectOnlyWhole(prepared.Encode(),
                  [](std::string_view row) { return PreparedGroup::Decode(row).has_value(); });
  const Decision decision{{1, 2}};
  EXPECT_EQ(ToHex(decision.Encode()), "01000200010002");
  ExpectOnlyWhole(decision.Encode(),
                  [](std::string_view row) { return Decision::Decode(row).has_value(); });
  EXPECT_EQ(ToHex(DecisionKey(5)), ToHex("shared/decided/") + "0000000000000005");
  EXPECT_EQ(PreparedKey(), "shared/prepared");
}

// Stores so many groups, and then no more: as if the process had ended there.
class EndingJournal final : public Journal {
 public:
  EndingJournal(storage::Store& store, std::atomic<int>& left) : store_(store), left_(left) {}
  void Append(ShardId, Sequence, Sequence, storage::Batch* group, Done done) override {
    if (left_.fetch_sub(1) <= 0) {
      done({Outcome::kFailed, Error(Code::kNoSpace, "storage.no_space", "it has ended")});
      return;
    }
    Status written = store_.Write(group, storage::Sync::kNo);
    CHECK(written.ok());
    done({});
  }
  Result<Position> Last(ShardId) override { return Position{}; }
  Status Recover() override { return OkStatus(); }
  bool WritesStore() const override { return true; }

 private:
  storage::Store& store_;
  std::atomic<int>& left_;
};

class SharedCommitsTest : public DatabaseTest {
 protected:
  SharedCommitsTest() {
    options_.shards = 4;
    options_.durability = Durability::kNone;
    options_.answer_within_ms = 0;
    options_.journal = [this](storage::Store& store) {
      return std::make_unique<EndingJournal>(store, appends_left_);
    };
  }
  void SetUp() override {
    DatabaseTest::SetUp();
    for (ShardId shard = 0; shard < 4; ++shard) {
      std::string key = "k";
      while (database_->ShardOf(keyspace_, key) != shard) key += "k";
      keys_.push_back(key);
    }
  }

  // One document in each of these shards.
  Commit PutIn(const std::vector<ShardId>& shards, const std::string& body) {
    Commit commit;
    commit.shard = shards[0];
    for (const ShardId shard : shards) {
      commit.writes.push_back(PutWrite(keyspace_, keys_[shard], Json(body)));
    }
    return commit;
  }
  std::string InAll() {
    std::string all;
    for (const std::string& key : keys_) all += Get(key) + " ";
    return all;
  }
  std::set<std::string> SharedRows() {
    std::set<std::string> found;
    for (ShardId shard = 0; shard < 4; ++shard) {
      const auto rows =
          database_->rows().NewIterator(RowFamily::kMeta, shard, {"shared/", "shared0"});
      for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
        found.insert(fmt::format("{} in {}", rows->key().substr(0, 15), shard));
      }
    }
    return found;
  }

  std::atomic<int> appends_left_ = 1 << 30;
  std::vector<std::string> keys_;  // by shard
};

TEST_F(SharedCommitsTest, WritesAllShards) {
  const CommitResult result = database_->Apply(PutIn({3, 0, 2}, "1"));
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ(InAll(), "1 - 1 1 ");
  ASSERT_EQ(result.writes.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const ShardId shard = std::vector<ShardId>{3, 0, 2}[i];
    EXPECT_EQ(result.writes[i].cas, (*database_->Get(keyspace_, keys_[shard]))->cas);
  }
  EXPECT_EQ(result.sequence, (*database_->Get(keyspace_, keys_[3]))->sequence);
  EXPECT_THAT(SharedRows(), ::testing::ElementsAre("shared/decided/ in 0"));
  ASSERT_TRUE(database_->Apply(PutIn({0, 1}, "2")).status.ok());
  EXPECT_THAT(SharedRows(), ::testing::ElementsAre("shared/decided/ in 0")) << "the second one";
  Reopen();
  EXPECT_THAT(SharedRows(), ::testing::IsEmpty());
  EXPECT_EQ(InAll(), "2 2 1 1 ");
}

TEST_F(SharedCommitsTest, OneConditionThatFailsStopsAll) {
  ASSERT_TRUE(Put(keys_[2], "old").status.ok());
  const Cas cas = (*database_->Get(keyspace_, keys_[2]))->cas;
  Commit commit = PutIn({1, 2, 3}, "new");
  commit.writes[1].precondition = Precondition::CasIs(cas + 1);
  const CommitResult refused = database_->Apply(std::move(commit));
  EXPECT_EQ(refused.status.id(), "document.cas_mismatch");
  EXPECT_EQ(refused.failed_write, 1);
  EXPECT_EQ(InAll(), "- - old - ");
  commit = PutIn({1, 2, 3}, "new");
  commit.writes[1].precondition = Precondition::CasIs(cas);
  EXPECT_TRUE(database_->Apply(std::move(commit)).status.ok());
  EXPECT_EQ(InAll(), "- new new new ");
}

TEST_F(SharedCommitsTest, ReadsAndRangesOfOtherShardsAreConditions) {
  ASSERT_TRUE(Put(keys_[0], "1").status.ok());
  const auto outcome = [&](const std::function<void(Transaction&)>& read, ShardId changed) {
    Transaction transaction(*database_);
    read(transaction);
    EXPECT_TRUE(transaction.Put(keyspace_, keys_[1], Json("2")));
    EXPECT_TRUE(Put(keys_[changed], "9").status.ok());
    return transaction.Apply().status.id();
  };
  const auto read = [&](Transaction& transaction) {
    EXPECT_TRUE(transaction.Get(keyspace_, keys_[0]));
  };
  const auto scan = [&](Transaction& transaction) {
    EXPECT_TRUE(
        transaction
            .Scan(keyspace_, "", "", [](std::string_view, const DocumentView&) { return true; })
            .ok());
  };
  EXPECT_EQ(outcome(read, 0), "transaction.conflict");
  EXPECT_EQ(outcome(read, 2), "");
  EXPECT_EQ(outcome(scan, 2), "transaction.conflict");
  EXPECT_EQ(outcome(scan, 3), "transaction.conflict");
}

// Its shards are only read, so nothing is prepared.
TEST_F(SharedCommitsTest, AShardThatIsOnlyReadStoresNothing) {
  const Sequence before = database_->followers().LastSequence(2);
  Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Get(keyspace_, keys_[2]));
  ASSERT_TRUE(transaction.Put(keyspace_, keys_[1], Json("1")));
  ASSERT_TRUE(transaction.Apply().status.ok());
  EXPECT_EQ(database_->followers().LastSequence(2), before);
  EXPECT_THAT(SharedRows(), ::testing::IsEmpty());
  EXPECT_EQ(Get(keys_[1]), "1");
}

TEST_F(SharedCommitsTest, ARowIsWrittenWithDocumentsOfOtherShards) {
  Commit commit = PutIn({1, 2}, "1");
  commit.shard = 3;
  commit.rows.push_back({RowFamily::kRun, 3, "r", "row", std::optional<std::string>()});
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  std::string row;
  EXPECT_TRUE(*database_->rows().Get(RowFamily::kRun, 3, "r", &row));
  EXPECT_EQ(InAll(), "- 1 1 - ");
  commit = PutIn({1, 2}, "2");
  commit.shard = 3;
  commit.rows.push_back({RowFamily::kRun, 3, "r", "row", std::optional<std::string>()});
  EXPECT_EQ(database_->Apply(std::move(commit)).status.id(), "row.changed");
  EXPECT_EQ(InAll(), "- 1 1 - ");
}

TEST_F(SharedCommitsTest, FollowersOfEachShardSeeItsPart) {
  ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
  ASSERT_TRUE(database_->Apply(PutIn({1, 3}, "1")).status.ok());
  for (const ShardId shard : {1, 3}) {
    Feed feed(*database_, shard, {keyspace_}, *database_->followers().ReadCursor({"f", shard, 0}));
    std::vector<std::string> seen;
    ASSERT_TRUE(feed.Read(10, [&](const Change& change) {
      seen.emplace_back(change.key);
      EXPECT_TRUE(change.last_of_keyspace);
      return true;
    }));
    EXPECT_THAT(seen, ::testing::ElementsAre(keys_[shard]));
  }
}

// The process ends after each possible append. What it acknowledged is there, what it refused is
// not, and the rest is there as a whole or not at all.
TEST_F(SharedCommitsTest, EndsBetweenAnyTwoSteps) {
  std::set<std::string> outcomes;
  for (int after = 0; after < 8; ++after) {
    SCOPED_TRACE(after);
    ASSERT_TRUE(database_->Apply(PutIn({0, 1, 2, 3}, "old")).status.ok());
    appends_left_ = after;
    std::promise<CommitResult> answer;
    database_->Submit(PutIn({1, 2, 3}, "new"),
                      [&](CommitResult result) { answer.set_value(std::move(result)); });
    auto answered = answer.get_future();
    // Six appends are needed. A decided commit is answered when the database is closed.
    if (after < 3 || after >= 5) answered.wait();
    database_.reset();
    const CommitResult result = answered.get();
    appends_left_ = 1 << 30;
    Open();
    EXPECT_EQ(InAll(), result.status.ok() ? "old new new new " : "old old old old ");
    EXPECT_THAT(SharedRows(), ::testing::IsEmpty());
    outcomes.insert(fmt::format("{} {}", after, result.status.id()));
    // Every shard takes commits again.
    ASSERT_TRUE(database_->Apply(PutIn({0, 1, 2, 3}, "again")).status.ok());
    EXPECT_EQ(InAll(), "again again again again ");
  }
  EXPECT_THAT(outcomes, ::testing::ElementsAre("0 storage.no_space", "1 storage.no_space",
                                               "2 storage.no_space", "3 ", "4 ", "5 ", "6 ", "7 "));
}

// A round that can't be finished keeps its shards, and the others go on.
TEST_F(SharedCommitsTest, GoesOnWhenTheDiskHasSpaceAgain) {
  appends_left_ = 3;
  std::promise<CommitResult> answer;
  database_->Submit(PutIn({1, 2, 3}, "new"),
                    [&](CommitResult result) { answer.set_value(std::move(result)); });
  auto answered = answer.get_future();
  while (appends_left_ > 0) std::this_thread::yield();
  appends_left_ = 1 << 30;
  // The committers ask once a second whether they can go on.
  while (answered.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    clock_.AdvanceMs(1000);
  }
  EXPECT_TRUE(answered.get().status.ok());
  EXPECT_EQ(InAll(), "- new new new ");
  EXPECT_THAT(SharedRows(), ::testing::ElementsAre("shared/decided/ in 1"));
}

TEST_F(SharedCommitsTest, IsRefusedWhenStopped) {
  appends_left_ = 0;
  EXPECT_EQ(database_->Apply(PutIn({1, 2}, "new")).status.id(), "storage.no_space");
  EXPECT_EQ(InAll(), "- - - - ");
}

// --- many at once -------------------------------------------------------------------------------

// Accounts in all shards. Transfers keep their sum, and a snapshot never sees another one.
class AccountsTest : public DatabaseTest {
 protected:
  static constexpr int kAccounts = 12;
  static constexpr int kSum = kAccounts * 100;

  AccountsTest() {
    options_.shards = 4;
    options_.durability = Durability::kNone;
  }
  void SetUp() override {
    DatabaseTest::SetUp();
    for (int i = 0; i < kAccounts; ++i) ASSERT_TRUE(Put(Account(i), "100").status.ok());
  }
  static std::string Account(uint64_t i) { return fmt::format("account{}", i); }
  static Status Transfer(Transaction& transaction, KeyspaceId keyspace, Random& random) {
    const std::string from = Account(random.Below(kAccounts));
    const std::string to = Account(random.Below(kAccounts));
    if (from == to) return OkStatus();
    const int amount = static_cast<int>(random.Below(10));
    for (const auto& [account, change] : {std::pair(from, -amount), std::pair(to, amount)}) {
      ASSIGN_OR_RETURN(const auto present, transaction.Get(keyspace, account));
      const auto put = transaction.Put(keyspace, account,
                                       Json(std::to_string(std::stoi(present->body) + change)));
      if (!put) return put.error();
    }
    return OkStatus();
  }
  int Sum(const DatabaseSnapshot* snapshot) {
    int sum = 0;
    EXPECT_TRUE(database_
                    ->Scan(keyspace_, {.snapshot = snapshot},
                           [&](std::string_view, const DocumentView& document) {
                             sum += std::stoi(std::string(document.body));
                             return true;
                           })
                    .ok());
    return sum;
  }
};

TEST_F(AccountsTest, SnapshotsSeeWholeCommits) {
  constexpr int kTransfers = 150;
  std::atomic<int> working = 3;
  std::vector<std::thread> writers;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    writers.emplace_back([&, seed] {
      Random random(seed);
      for (int i = 0; i < kTransfers; ++i) {
        const auto done = RunTransaction(*database_, [&](Transaction& transaction) {
          return Transfer(transaction, keyspace_, random);
        });
        EXPECT_TRUE(done) << done.error().ToString();
      }
      --working;
    });
  }
  int looks = 0;
  for (; working != 0 || looks == 0; ++looks) {
    ASSERT_EQ(Sum(database_->NewSnapshot().get()), kSum);
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Sum(nullptr), kSum);
}

// Commits that meet a shard which is not owned are refused as a whole; the others take effect once.
TEST_F(AccountsTest, ShardsComeAndGo) {
  std::atomic<bool> ending = false;
  std::atomic<int> done = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> writers;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    writers.emplace_back([&, seed] {
      Random random(seed);
      while (!ending) {
        const auto result = RunTransaction(*database_, [&](Transaction& transaction) {
          return Transfer(transaction, keyspace_, random);
        });
        ++(result ? done : refused);
        if (!result) EXPECT_EQ(result.error().id(), kNotOwner) << result.error().ToString();
      }
    });
  }
  Random random(3);
  for (int i = 0; i < 40; ++i) {
    const auto shard = static_cast<ShardId>(random.Below(4));
    database_->ownership().Take(shard);
    ASSERT_EQ(Sum(database_->NewSnapshot().get()), kSum);
    const int before = refused;
    while (refused == before) std::this_thread::yield();
    database_->ownership().Give(shard);
    const int committed = done;
    while (done == committed) std::this_thread::yield();
  }
  ending = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Sum(nullptr), kSum);
}

// A journal that refuses, fails and does not know, shards that are lost, and restarts in between.
class ShakyAccountsTest : public AccountsTest {
 protected:
  ShakyAccountsTest() {
    options_.answer_within_ms = 0;
    options_.journal = [this](storage::Store&) {
      auto journal = std::make_unique<ShakyJournal>(log_, clock_, calm_, seed_ + ++opened_);
      journal_ = journal.get();
      return journal;
    };
    const char* seed = std::getenv("SLUICE_SEED");
    seed_ = seed != nullptr ? std::strtoull(seed, nullptr, 10) : std::random_device()();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }
  void SetUp() override {
    ticker_ = Thread({"ticker"}, [this] {
      while (ended_.Wait(0, MachineClock().Now() + std::chrono::microseconds(200)) !=
             Signal::Waited::kClosed) {
        clock_.AdvanceMs(50);
      }
    });
    AccountsTest::SetUp();
  }
  void TearDown() override {
    standby_.reset();
    database_.reset();
    ended_.Close();
  }
  void AwaitHealth() {
    for (ShardId shard = 0; shard < 4; ++shard) {
      for (bool works = false; !works;) {
        Commit nothing;
        nothing.shard = shard;
        works = database_->Apply(std::move(nothing)).status.ok();
      }
    }
  }

  SharedLog log_;
  std::atomic<bool> calm_ = true;
  ShakyJournal* journal_ = nullptr;
  uint64_t seed_ = 0;
  uint64_t opened_ = 0;
  Signal ended_;
  Thread ticker_;
  std::unique_ptr<TestStandby> standby_;
};

TEST_F(ShakyAccountsTest, TheSumStays) {
  Random random(seed_);
  standby_ = std::make_unique<TestStandby>(directory_ / "standby", options_, clock_, log_);
  std::atomic<int> committed = 0;
  std::map<std::string, int> errors;
  for (int round = 0; round < 25 && !HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("seed {} round {}", seed_, round));
    calm_ = false;
    std::atomic<int> outstanding = 0;
    for (int i = 0; i < 40; ++i) {
      Transaction transaction(*database_);
      ASSERT_TRUE(Transfer(transaction, keyspace_, random).ok());
      ++outstanding;
      database_->Submit(transaction.TakeCommit(), [&](CommitResult result) {
        if (result.status.ok()) ++committed;
        --outstanding;
        outstanding.notify_all();
      });
      if (random.OneIn(4)) ASSERT_EQ(Sum(database_->NewSnapshot().get()), kSum);
    }
    const bool restart = random.OneIn(3);
    if (restart && random.OneIn(2)) journal_->Lose(static_cast<ShardId>(random.Below(4)));
    if (restart) {
      calm_ = random.OneIn(2);
      database_.reset();
      calm_ = true;
      Open();
    } else {
      for (int left = outstanding; left != 0; left = outstanding) outstanding.wait(left);
      calm_ = true;
      AwaitHealth();
    }
    ASSERT_EQ(outstanding, 0);
    ASSERT_EQ(Sum(nullptr), kSum);
    if (random.OneIn(3)) standby_->CatchUp(*database_);
  }
  standby_->CatchUp(*database_);
  std::printf("%d commits\n", committed.load());
  EXPECT_GT(committed, 100);
}

}  // namespace
}  // namespace sluice::db
