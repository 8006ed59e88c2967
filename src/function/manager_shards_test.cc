// Functions in several shards, which the server gains and loses.
#include <array>
#include <atomic>
#include <future>
#include <map>
#include <set>

#include "base/random.h"
#include "function/test_manager.h"
#include "json/parse.h"

namespace sluice::function {
namespace {

constexpr uint16_t kFour = 4;

class ManagerShardsTest : public ManagerTest {
 protected:
  ManagerShardsTest() : ManagerTest(kFour) {
    CHECK(database_->admin().CreateBucket("fired").ok());
    for (int i = 0; keys_.size() < kFour; ++i) {
      const std::string key = "k" + std::to_string(i);
      keys_.emplace(database_->ShardOfKey(key), key);
    }
  }

  static Definition WithFired(const std::string& code) {
    Definition definition = Function(code);
    definition.buckets.push_back({"fired", {.bucket = "fired"}, true});
    definition.settings.worker_count = 3;
    return definition;
  }
  // A key of the shard.
  const std::string& KeyIn(db::ShardId shard) const { return keys_.at(shard); }
  db::Ownership& ownership() { return database_->ownership(); }
  // The sum of the counters in a bucket.
  int64_t Sum(const std::string& bucket) {
    int64_t sum = 0;
    EXPECT_TRUE(database_
                    ->Scan(*database_->Resolve({.bucket = bucket}), {},
                           [&](std::string_view, const db::DocumentView& document) {
                             sum += (*json::Parse(document.body))["count"].AsInt();
                             return true;
                           })
                    .ok());
    return sum;
  }
  size_t TimerCount() { return manager_->Timers("f", {}, 100)->timers.size(); }

  std::map<db::ShardId, std::string> keys_;
};

constexpr const char* kCounts =
    "function OnUpdate(doc, meta) { couchbase.increment(dst, {id: meta.id}); }";
constexpr const char* kRunsForEver =
    "function OnUpdate(doc, meta) {\n"
    "  dst[meta.id] = doc;\n"
    "  if (doc === 'loop') for (;;) new Error('x').stack.length;\n}";

TEST_F(ManagerShardsTest, EachEventTakesEffectOnceInItsShard) {
  Definition definition = Function(kCounts);
  definition.settings.worker_count = 3;
  std::map<std::string, int> puts;
  const auto put = [&](int i) {
    const std::string key = "d" + std::to_string(i % 40);
    Put(key, "1");
    ++puts[key];
  };
  for (int i = 0; i < 40; ++i) put(i);
  Deploy(definition);
  Settle();  // a document that changes before it is read has one event
  for (int i = 0; i < 1000; ++i) {
    put(i);
    if (i == 500) {
      Close();
      Open();
    }
  }
  Settle();
  for (const auto& [key, count] : puts) {
    EXPECT_EQ(Get(key), "{\"count\":" + std::to_string(count) + "}") << key;
  }
}

TEST_F(ManagerShardsTest, FromNowAndPauseKeepAPlaceInEveryShard) {
  for (const auto& [shard, key] : keys_) Put(key, "1");
  Definition definition = Function(kCounts);
  definition.settings.boundary = Boundary::kFromNow;
  Deploy(definition);
  for (const auto& [shard, key] : keys_) Put(key, "2");
  Settle();
  EXPECT_EQ(Sum("dst"), 4);
  ASSERT_TRUE(manager_->Pause("f").ok());
  for (const auto& [shard, key] : keys_) Put(key, "3");
  EXPECT_EQ((*manager_->StatisticsOf("f"))["lag"].is_missing(), true);
  ASSERT_TRUE(manager_->Resume("f").ok());
  Settle();
  for (const auto& [shard, key] : keys_) EXPECT_EQ(Get(key), R"({"count":2})") << shard;
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  EXPECT_TRUE(database_->catalog()->followers().empty());
}

TEST_F(ManagerShardsTest, ATimerIsInTheShardOfItsEvent) {
  Deploy(WithFired(R"(
    function OnUpdate(doc, meta) {
      if (doc === 'cancel') dst[meta.id] = cancelTimer(Fire, 'same');
      else createTimer(Fire, new Date(Date.now() + 3600000), 'same', {id: meta.id});
    }
    function Fire(context) { couchbase.increment(fired, {id: context.id}); })"));
  for (const auto& [shard, key] : keys_) Put(key, "1");
  for (const auto& [shard, key] : keys_) Put(key, "2");
  Settle();
  EXPECT_EQ(TimerCount(), 4u) << "one in each shard, by the same reference";
  Put(KeyIn(2), "\"cancel\"");
  Settle();
  EXPECT_EQ(Get(KeyIn(2)), "true");
  EXPECT_EQ(TimerCount(), 3u);
  ASSERT_TRUE(manager_->FireTimer("f", "Fire", "same").ok()) << "in all shards";
  ASSERT_TRUE(Await([&] { return Sum("fired") == 3; }));
  EXPECT_EQ(Get(KeyIn(1), "fired"), R"({"count":1})");
  EXPECT_EQ(Get(KeyIn(2), "fired"), "-");
  for (const auto& [shard, key] : keys_) Put(key, "3");
  Settle();
  EXPECT_EQ(TimerCount(), 4u);
  ASSERT_TRUE(manager_->CancelTimer("f", "Fire", "same").ok());
  EXPECT_EQ(TimerCount(), 0u);
  for (const auto& [shard, key] : keys_) Put(key, "4");
  Settle();
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  for (const auto& [shard, key] : keys_) {
    const auto rows = database_->rows().NewIterator(db::RowFamily::kTimer, shard);
    rows->SeekToFirst();
    EXPECT_FALSE(rows->Valid()) << shard;
  }
}

TEST_F(ManagerShardsTest, FailuresOfAllShardsAreListedAndReplayed) {
  Definition definition = Function(
      "function OnUpdate(doc, meta) {\n  if (doc === 1) throw new Error('no');\n"
      "  dst[meta.id] = doc;\n}");
  Deploy(definition);
  for (const auto& [shard, key] : keys_) Put(key, "1");
  Settle();
  std::set<db::ShardId> shards;
  const auto failures = manager_->Failures("f", {}, 100)->failures;
  for (const auto& item : failures) {
    shards.insert(item.failure.id.shard);
    EXPECT_EQ(KeyIn(item.failure.id.shard), item.failure.key);
    json::Value edit = json::Value::EmptyObject();
    edit.Set("document", 7);
    EXPECT_TRUE(manager_->EditFailure("f", item.failure.id, edit).ok());
  }
  EXPECT_EQ(shards.size(), kFour);
  EXPECT_EQ(manager_->FindFailure("f", failures[3].failure.id)->item.failure.key,
            failures[3].failure.key);
  ASSERT_TRUE(manager_->ReplayFailure("f", failures[3].failure.id).ok());
  ASSERT_TRUE(Await([&] { return Get(failures[3].failure.key) == "7"; }));
  EXPECT_EQ(*manager_->ReplayFailures("f"), 3u);
  ASSERT_TRUE(Await([&] { return Count("failures", "kept") == 0; }));
  for (const auto& [shard, key] : keys_) EXPECT_EQ(Get(key), "7") << shard;
}

TEST_F(ManagerShardsTest, NothingRunsInALostShardUntilItIsGained) {
  Deploy(kCounts);
  ASSERT_TRUE(manager_->Pause("f").ok());
  for (const auto& [shard, key] : keys_) Put(key, "1");
  ownership().Take(1);
  ASSERT_TRUE(manager_->Resume("f").ok());
  Settle();
  EXPECT_EQ(Get(KeyIn(0)), R"({"count":1})");
  EXPECT_EQ(Get(KeyIn(1)), "-");
  ASSERT_TRUE(manager_->Pause("f").ok());
  for (const db::ShardId shard : {0, 2, 3}) Put(KeyIn(shard), "2");
  ownership().Take(2);
  ASSERT_TRUE(manager_->Resume("f").ok());
  Settle();
  EXPECT_EQ(Get(KeyIn(0)), R"({"count":2})");
  EXPECT_EQ(Get(KeyIn(1)), "-");
  EXPECT_EQ(Get(KeyIn(2)), R"({"count":1})");
  ownership().Give(1);
  ownership().Give(2);
  Put(KeyIn(1), "2");
  Settle();
  for (const auto& [shard, key] : keys_) EXPECT_EQ(Get(key), R"({"count":2})") << shard;
}

// Its follower needs cursors in all shards.
TEST_F(ManagerShardsTest, AFunctionIsDeployedWhereAllShardsAreOwned) {
  ownership().Take(3);
  ASSERT_TRUE(manager_->Store(Function(kCounts)).ok());
  EXPECT_EQ(manager_->Deploy("f").id(), "catalog.shards_away");
  ownership().Give(3);
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  for (const auto& [shard, key] : keys_) Put(key, "1");
  Deploy(kCounts);
  Settle();
  EXPECT_EQ(Sum("dst"), 4);
}

TEST_F(ManagerShardsTest, ACallThatRunsForEverEndsWithItsShard) {
  Definition definition = Function(kRunsForEver);
  definition.settings.execution_timeout_s = 3600;
  Deploy(definition);
  Put(KeyIn(3), "\"loop\"");
  ASSERT_TRUE(Await([&] { return Count("events_remaining", "dcp_backlog") == 1; }));
  ownership().Take(3);
  EXPECT_EQ(Count("events_remaining", "dcp_backlog"), 0u);
  Put(KeyIn(2), "1");
  Settle();
  EXPECT_EQ(Get(KeyIn(2)), "1") << "the worker serves the other shards";
  EXPECT_EQ(Get(KeyIn(3)), "-");
  ASSERT_TRUE(manager_->Pause("f").ok());
  ASSERT_TRUE(
      manager_->Store(Function("function OnUpdate(doc, meta) { dst[meta.id] = 'new'; }")).ok());
  ASSERT_TRUE(manager_->Resume("f").ok());
  ownership().Give(3);
  Settle();
  EXPECT_EQ(Get(KeyIn(3)), "\"new\"") << "it was run again";
  EXPECT_EQ(Count("execution_stats", "on_update_failure"), 0u);
}

TEST_F(ManagerShardsTest, OnDeployEndsWithItsShard) {
  Definition slow =
      Function("function OnDeploy() { log('began'); for (;;) {} }\nfunction OnUpdate() {}");
  slow.settings.on_deploy_timeout_s = 3600;
  ASSERT_TRUE(manager_->Store(slow).ok());
  auto deploying = std::async(std::launch::async, [&] { return manager_->Deploy("f"); });
  ASSERT_TRUE(Await([&] { return !LogLines().empty(); }));
  ownership().Take(2);  // another one
  ownership().Take(db::kDefinitionsShard);
  EXPECT_EQ(deploying.get().id(), "function.on_deploy_failed");
  EXPECT_EQ(manager_->Deploy("f").id(), "function.not_owner");
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kUndeployed);
}

TEST_F(ManagerShardsTest, LagIsThatOfAllShards) {
  Definition definition = Function(kRunsForEver);
  definition.settings.execution_timeout_s = 3600;
  definition.settings.boundary = Boundary::kFromNow;
  Deploy(definition);
  for (const auto& [shard, key] : keys_) Put(key, "\"loop\"");
  ASSERT_TRUE(Await([&] { return Count("events_remaining", "dcp_backlog") == kFour; }));
  const uint64_t behind = Count("lag", "commits_behind");
  EXPECT_GE(behind, kFour);  // commits of cursors count, too
  ownership().Take(1);
  EXPECT_LT(Count("lag", "commits_behind"), behind) << "the shard's owner tells the rest";
}

TEST_F(ManagerShardsTest, TimersRestInALostShard) {
  Deploy(WithFired(R"(
    function OnUpdate(doc, meta) {
      createTimer(Fire, new Date(Date.now() + 3600000), 'soon', {id: meta.id});
    }
    function Fire(context) { couchbase.increment(fired, {id: context.id}); })"));
  for (const auto& [shard, key] : keys_) Put(key, "1");
  Settle();
  ownership().Take(0);
  Advance(3'600'000);
  ASSERT_TRUE(Await([&] { return Sum("fired") == 3; }));
  EXPECT_EQ(Get(KeyIn(0), "fired"), "-");
  ownership().Give(0);
  ASSERT_TRUE(Await([&] { return Sum("fired") == 4; }));
}

TEST_F(ManagerShardsTest, ADebuggerEndsWhenItsEventsShardIsLost) {
  ASSERT_TRUE(manager_->SetConfig(*json::Parse(R"({"enable_debugger": true})")).ok());
  Deploy(kCounts);
  Settle();
  ASSERT_TRUE(manager_->StartDebugger("f").ok());
  Put(KeyIn(1), "1");
  while (manager_->DebuggerOf("f")) {  // until it has taken the event
    ownership().Take(1);
    ownership().Give(1);
  }
  Settle();
  EXPECT_EQ(Get(KeyIn(1)), R"({"count":1})");
}

TEST_F(ManagerShardsTest, EverythingTakesEffectOnceWhileShardsComeAndGo) {
  const Definition definition = WithFired(R"(
    function OnUpdate(doc, meta) {
      couchbase.increment(dst, {id: meta.id});
      createTimer(Fire, new Date(), meta.id + ':' + doc.n, {id: meta.id});
    }
    function Fire(context) { couchbase.increment(fired, {id: context.id}); })");
  // The commits of the function, seen by the shard's listener.
  std::array<std::atomic<bool>, kFour> owned;
  std::atomic<int> trespasses = 0;
  std::vector<std::shared_ptr<void>> tokens;
  const std::array<db::KeyspaceId, 2> written = {*database_->Resolve({.bucket = "dst"}),
                                                 *database_->Resolve({.bucket = "fired"})};
  for (const db::KeyspaceId keyspace : written) {
    tokens.push_back(*database_->followers().FollowTransiently(keyspace));
  }
  for (db::ShardId shard = 0; shard < kFour; ++shard) {
    owned[shard] = true;
    tokens.push_back(
        database_->followers().OnCommitted(shard, [&, shard](const db::Committed& committed) {
          for (const db::KeyspaceId keyspace : written) {
            if (std::ranges::count(committed.keyspaces, keyspace) == 0) continue;
            if (!owned[shard]) ++trespasses;
          }
        }));
  }
  Deploy(definition);
  Random random(23);
  std::map<std::string, int> puts;
  int n = 0;
  const auto step = [&](uint64_t what) {
    const auto shard = static_cast<db::ShardId>(random.Below(kFour));
    if (what == 0 && owned[shard]) {
      ownership().Take(shard);
      owned[shard] = false;
    } else if (what <= 1 && !owned[shard]) {
      owned[shard] = true;
      ownership().Give(shard);
    } else if (what == 2 && owned[db::kDefinitionsShard] && random.OneIn(4)) {
      ASSERT_TRUE(manager_->Pause("f").ok());
      ASSERT_TRUE(manager_->Resume("f").ok());
    } else if (what > 2) {
      for (uint64_t i = random.Below(8); i > 0; --i) {
        const std::string key = "d" + std::to_string(random.Below(60));
        if (!owned[database_->ShardOfKey(key)]) continue;
        Put(key, "{\"n\":" + std::to_string(++n) + "}");
        ++puts[key];
      }
    }
  };
  for (int i = 0; i < 600; ++i) step(random.Below(9));
  for (db::ShardId shard = 0; shard < kFour; ++shard) {
    owned[shard] = true;
    ownership().Give(shard);
  }
  Settle();
  ASSERT_TRUE(Await([&] { return TimerCount() == 0; }));
  EXPECT_EQ(trespasses, 0);
  for (const auto& [key, count] : puts) {
    const std::string counted = "{\"count\":" + std::to_string(count) + "}";
    EXPECT_EQ(Get(key), counted) << key;
    EXPECT_EQ(Get(key, "fired"), counted) << key;
  }
  EXPECT_EQ(Count("execution_stats", "on_update_success"), static_cast<uint64_t>(n));
  tokens.clear();
}

}  // namespace
}  // namespace sluice::function
