// Shards come and go: what opening does not do, what a server does in shards that it does not own,
// and random moves between two servers under load. SLUICE_SEED replays a run.
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "base/random.h"
#include "db/database_impl.h"
#include "db/index.h"
#include "db/test_database.h"
#include "db/test_follower.h"
#include "db/test_servers.h"
#include "db/test_standby.h"

namespace sluice::db {
namespace {

// All rows of a store, as text.
std::string RowsOf(const Database& database) {
  std::string rows;
  for (size_t i = 0; i < storage::kFamilyCount; ++i) {
    const auto family = static_cast<storage::Family>(i);
    const auto each = StoreOf(database).NewIterator(family, {});
    for (each->SeekToFirst(); each->Valid(); each->Next()) {
      rows += fmt::format("{} {} {}\n", storage::FamilyName(family), ToHex(each->key()),
                          ToHex(each->value()));
    }
  }
  return rows;
}

size_t ThreadsOf(std::string_view kind) {
  const auto running = RunningThreads();
  return static_cast<size_t>(std::ranges::count(running, kind, &RunningThread::kind));
}

class ShardsTest : public DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  ShardsTest() {
    options_.durability = Durability::kNone;
    options_.shards = GetParam();
  }
  ShardId last() const { return static_cast<ShardId>(GetParam() - 1); }
  // A key of the shard.
  std::string KeyIn(ShardId shard, const std::string& prefix = "k") {
    for (int i = 0;; ++i) {
      std::string key = fmt::format("{}{}", prefix, i);
      if (database_->ShardOf(keyspace_, key) == shard) return key;
    }
  }
  Ownership& ownership() { return database_->ownership(); }
};

TEST_P(ShardsTest, OpeningAStandbyWritesAndStartsNothing) {
  ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
  for (ShardId shard = 0; shard < GetParam(); ++shard) {
    ASSERT_TRUE(Apply(PutWrite(keyspace_, KeyIn(shard), Json("1", 1000))).status.ok());
  }
  // What an owner would clean up: half of a follower.
  Commit commit;
  commit.shard = last();
  commit.cursor_creates.push_back({.cursor = {"half", last(), 0}});
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  const std::string before = RowsOf(*database_);
  database_.reset();
  const size_t commit_threads = ThreadsOf("commit");
  const size_t background = ThreadsOf("db background");
  options_.role = DatabaseRole::kStandby;
  Open();
  EXPECT_EQ(RowsOf(*database_), before);
  EXPECT_EQ(ThreadsOf("commit"), commit_threads);
  EXPECT_EQ(ThreadsOf("db background"), background);
  EXPECT_TRUE(ownership().owned().empty());
  clock_.AdvanceMs(5000);
  EXPECT_EQ(*database_->operations().ExpireNow(), 0u);
  EXPECT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(Put("a", "1").status.id(), kNotOwner);
  EXPECT_EQ(RowsOf(*database_), before);
  ASSERT_TRUE(database_->TakeOver().ok());
  EXPECT_EQ(ThreadsOf("commit"), commit_threads + GetParam());
  EXPECT_FALSE(database_->followers().ReadCursor({"half", last(), 0}));
  EXPECT_TRUE(database_->followers().ReadCursor({"f", last(), 0}));
  EXPECT_EQ(*database_->operations().ExpireNow(), GetParam());
}

TEST_P(ShardsTest, AShardIsTakenAndGivenAgain) {
  const std::string key = KeyIn(last());
  ASSERT_TRUE(Put(key, "1").status.ok());
  const Sequence sequence = database_->followers().LastSequence(last());
  ownership().Take(last());
  EXPECT_FALSE(ownership().Owns(last()));
  EXPECT_EQ(Put(key, "2").status.id(), kNotOwner);
  EXPECT_EQ(Get(key), "1");
  if (GetParam() > 1) {
    EXPECT_TRUE(Put(KeyIn(0), "1").status.ok());
  }
  CatalogAdmin& admin = database_->admin();
  EXPECT_EQ(admin.CreateBucket("c").id(), "catalog.shards_away");
  EXPECT_EQ(admin.FlushCollection({.bucket = "b"}).id(), "catalog.shards_away");
  EXPECT_EQ(admin.CreateIndex({.bucket = "b"}, {"by_n", {{.path = "n"}}}).id(),
            "catalog.shards_away");
  EXPECT_EQ(database_->followers().FollowTransiently(keyspace_).error().id(),
            "catalog.shards_away");
  EXPECT_EQ(database_->followers().LastSequence(last()), sequence);
  ownership().Take(last());
  ownership().Give(last());
  ownership().Give(last());
  EXPECT_EQ(Put(key, "2").sequence, sequence + 1);
  EXPECT_TRUE(admin.CreateBucket("c").ok());
}

// What the owner has written meanwhile is known: a condition on an older version does not hold.
TEST_P(ShardsTest, TheNextOwnerGoesOn) {
  TestServers servers(directory_ / "server", options_, clock_);
  ASSERT_TRUE(servers[0].admin().CreateBucket("b").ok());
  keyspace_ = *servers[0].Resolve({.bucket = "b"});
  const std::string key = KeyIn(last());
  const auto put = [&](Database& database, std::string body, std::vector<ReadCheck> reads) {
    Commit commit;
    commit.shard = last();
    commit.writes.push_back(PutWrite(keyspace_, key, Json(std::move(body))));
    commit.reads = std::move(reads);
    commit.reads_as_of = commit.reads.empty() ? std::nullopt : std::optional<Sequence>(1);
    return database.Apply(std::move(commit));
  };
  const Sequence first = put(servers[0], "1", {}).sequence;
  servers.Move(last(), 1);
  EXPECT_EQ(put(servers[0], "2", {}).status.id(), kNotOwner);
  const CommitResult second = put(servers[1], "2", {});
  EXPECT_EQ(second.sequence, first + 1);
  servers.Move(last(), 0);
  EXPECT_EQ(put(servers[0], "3", {{keyspace_, key, first}}).status.id(), "transaction.conflict");
  const CommitResult third = put(servers[0], "3", {{keyspace_, key, second.sequence}});
  ASSERT_TRUE(third.status.ok()) << third.status.ToString();
  EXPECT_GT(third.writes[0].cas, second.writes[0].cas);
  servers.FeedAll(1);
  ExpectSameRows(StoreOf(servers[0]), StoreOf(servers[1]));
}

struct RecordingTenant final : ShardTenant {
  RecordingTenant(std::string of, std::vector<std::string>& to) : name(std::move(of)), calls(to) {}
  void Gained(ShardId shard) override { calls.push_back(fmt::format("{} gained {}", name, shard)); }
  void Lost(ShardId shard) override { calls.push_back(fmt::format("{} lost {}", name, shard)); }
  const std::string name;
  std::vector<std::string>& calls;
};

TEST_P(ShardsTest, TenantsComeInOrderAndGoInTheOppositeOne) {
  std::vector<std::string> calls;
  RecordingTenant a("a", calls);
  RecordingTenant b("b", calls);
  ownership().Add(&a);
  EXPECT_EQ(calls.size(), GetParam());
  ownership().Add(&b);
  calls.clear();
  ownership().Take(0);
  ownership().Give(0);
  ownership().Remove(&a);
  ownership().Remove(&a);
  std::vector<std::string> expected = {"b lost 0", "a lost 0", "a gained 0", "b gained 0"};
  for (int shard = last(); shard >= 0; --shard) expected.push_back(fmt::format("a lost {}", shard));
  EXPECT_EQ(calls, expected);
  ownership().Remove(&b);
}

class MovingShardsTest : public ShardsTest {
 protected:
  static constexpr int kWriters = 2;
  static constexpr int kCommits = 300;
  static constexpr int kMoves = 40;  // at least
  static constexpr int kCounters = 16;
  static constexpr int kDocuments = 1500;  // for the index

  MovingShardsTest() {
    const char* seed = std::getenv("SLUICE_SEED");
    seed_ = seed != nullptr ? std::strtoull(seed, nullptr, 10) : std::random_device()();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }
  void SetUp() override {
    ShardsTest::SetUp();
    servers_ = std::make_unique<TestServers>(directory_ / "server", options_, clock_);
    Database& first = (*servers_)[0];
    ASSERT_TRUE(first.admin().CreateBucket("b").ok());
    keyspace_ = *first.Resolve({.bucket = "b"});
    ASSERT_TRUE(first.followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
    std::vector<Commit> commits(GetParam());
    for (int i = 0; i < kDocuments; ++i) {
      const std::string key = fmt::format("d{}", i);
      const ShardId shard = first.ShardOf(keyspace_, key);
      commits[shard].shard = shard;
      commits[shard].writes.push_back(
          PutWrite(keyspace_, key, Json(fmt::format(R"({{"n":{}}})", i))));
    }
    for (Commit& commit : commits) ASSERT_TRUE(first.Apply(std::move(commit)).status.ok());
  }
  void TearDown() override { servers_.reset(); }

  // As a client that asks the shard's owner, and again while the shard moves.
  void Write(const std::function<sluice::db::Write()>& make) {
    while (true) {
      Commit commit;
      commit.writes.push_back(make());
      commit.shard = (*servers_)[0].ShardOf(keyspace_, commit.writes[0].key);
      const Status status = servers_->OwnerOf(commit.shard).Apply(std::move(commit)).status;
      if (status.ok()) return;
      ASSERT_EQ(status.id(), kNotOwner);
      std::this_thread::yield();
    }
  }
  void RunWriter(int number, uint64_t seed, std::map<std::string, int64_t>* counted) {
    Random random(seed);
    for (int i = 0; i < kCommits; ++i) {
      const std::string key = fmt::format("n{}", random.Below(kCounters));
      Write([&] { return CounterWrite(keyspace_, key, {.delta = 1, .initial = 1}); });
      ++(*counted)[key];
      Write([&] {
        return PutWrite(keyspace_, fmt::format("e{}-{}", number, i),
                        Json("1", clock_.WallMs() + random.Below(50)));
      });
    }
  }
  void Consume(ShardId shard) {
    TestFollower follower(servers_->OwnerOf(shard), "f", shard);
    for (std::string& text : follower.Consume(200)) seen_.push_back(std::move(text));
  }
  // Each value of each counter is seen once, in order.
  void CompareSeen(const std::map<std::string, int64_t>& counted) {
    std::map<std::string, int64_t> values;
    size_t inserts = 0;
    size_t deletes = 0;
    for (const std::string& text : seen_) {
      const size_t space = text.find(' ');
      const std::string key = text.substr(space + 1, text.find(' ', space + 1) - space - 1);
      if (key[0] == 'e') ++(text.starts_with("insert") ? inserts : deletes);
      if (key[0] != 'n') continue;
      const int64_t value = std::stoll(text.substr(text.find("-> ") + 3));
      ASSERT_EQ(value, ++values[key]) << text;
    }
    EXPECT_EQ(values, counted);
    EXPECT_EQ(inserts, static_cast<size_t>(kWriters * kCommits));
    EXPECT_EQ(deletes, inserts);
  }
  void AwaitIndex(Database& database) {
    const auto state = [&]() -> std::optional<Index::State> {
      const auto& indexes = database.catalog()->Find(keyspace_)->indexes;
      return indexes.empty() ? std::nullopt : std::optional(indexes[0]->state());
    };
    if (!state()) {
      // The server that made it lost a shard, failed, and had the shard again when it cleaned up.
      const Status made = database.admin().CreateIndex({.bucket = "b"}, {"by_n", {{.path = "n"}}});
      ASSERT_TRUE(made.ok()) << made.ToString();
    }
    AwaitCommitted(database, [&] { return state() == Index::State::kReady; });
    size_t rows = 0;
    const auto catalog = database.catalog();
    const Status scanned = database.ScanIndex(*catalog->Find(keyspace_)->indexes[0], "", "",
                                              [&](std::string_view, std::string_view key) {
                                                rows += key.starts_with("d") ? 1 : 0;
                                                return true;
                                              });
    ASSERT_TRUE(scanned.ok()) << scanned.ToString();
    EXPECT_EQ(rows, static_cast<size_t>(kDocuments));
  }

  uint64_t seed_ = 0;
  std::unique_ptr<TestServers> servers_;
  std::atomic<int> writing_ = kWriters;
  std::vector<std::string> seen_;
};

TEST_P(MovingShardsTest, UnderLoadNothingIsLostOrDoubled) {
  Random random(seed_);
  TestServers& servers = *servers_;
  std::vector<std::map<std::string, int64_t>> counted(kWriters);
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back(
        [this, i, seed = random.Next(), counts = &counted[static_cast<size_t>(i)]] {
          RunWriter(i, seed, counts);
          --writing_;
        });
  }
  threads.emplace_back([&] {
    const Status made = servers[0].admin().CreateIndex({.bucket = "b"}, {"by_n", {{.path = "n"}}});
    EXPECT_TRUE(made.ok() || made.id() == "catalog.shards_away" || made.id() == kNotOwner)
        << made.ToString();
  });
  int moves = 0;
  for (; (moves < kMoves || writing_ > 0) && !HasFailure(); ++moves) {
    const auto shard = static_cast<ShardId>(random.Below(GetParam()));
    if (random.OneIn(8)) {
      servers.MoveAll(0);
    } else {
      servers.Move(shard, random.Below(2));
    }
    clock_.AdvanceMs(random.Below(20));
    for (size_t n = 0; n < TestServers::kServers; ++n) {
      if (random.OneIn(3)) EXPECT_TRUE(servers[n].operations().ExpireNow());
      if (random.OneIn(3)) EXPECT_TRUE(servers[n].operations().TrimNow().ok());
    }
    Consume(static_cast<ShardId>(random.Below(GetParam())));
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d moves\n", moves);
  servers.MoveAll(0);
  clock_.AdvanceMs(100);
  ASSERT_TRUE(servers[0].operations().ExpireNow());
  for (ShardId shard = 0; shard < GetParam(); ++shard) {
    for (size_t before = seen_.size() + 1; before != seen_.size();) {
      before = seen_.size();
      Consume(shard);
    }
  }
  std::map<std::string, int64_t> all;
  for (const auto& each : counted) {
    for (const auto& [key, count] : each) all[key] += count;
  }
  for (const auto& [key, count] : all) {
    const auto document = servers[0].Get(keyspace_, key);
    ASSERT_TRUE(document && *document);
    EXPECT_EQ((*document)->body, std::to_string(count));
  }
  CompareSeen(all);
  EXPECT_EQ(servers[0].operations().Stats().expired + servers[1].operations().Stats().expired,
            static_cast<uint64_t>(kWriters * kCommits));
  AwaitIndex(servers[0]);
  ASSERT_TRUE(servers[0].operations().TrimNow().ok());
  servers.FeedAll(1);
  ExpectSameRows(StoreOf(servers[0]), StoreOf(servers[1]));
  EXPECT_EQ(Describe(*servers[0].catalog()), Describe(*servers[1].catalog()));
}

INSTANTIATE_TEST_SUITE_P(Shards, ShardsTest, ::testing::Values(1, 4));
INSTANTIATE_TEST_SUITE_P(Shards, MovingShardsTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::db
