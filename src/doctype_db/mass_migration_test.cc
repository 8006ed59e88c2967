#include "doctype_db/mass_migration.h"

#include <array>
#include <cstdlib>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "db/test_database.h"
#include "db/test_servers.h"
#include "doctype/test_types.h"
#include "doctype/type_json.h"
#include "doctype_db/policy_compiler.h"
#include "json/print.h"

namespace sluice::doctype_db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using State = MigrationJob::State;

constexpr std::string_view kType = R"(type: user
keyspace: b
match: { key: "user:{userId}" }
properties: { schema: _schema, version: _ver }
schema: "2"
migrations: m.js
migrate: { read: off }
revisions: { keep: 5 }
)";
constexpr std::string_view kCode = R"(module.exports = { '1 -> 2'(doc) {
  if (doc.bad) throw new Error('no');
  return {_schema: '2', n: doc.n + 1};
} };)";

class MassMigrationTest : public db::DatabaseTest {
 protected:
  MassMigrationTest() {
    options_.policy_compiler = std::make_shared<PolicyCompiler>(machine_, doctype::kPatient);
    options_.durability = db::Durability::kNone;
  }
  void SetUp() override {
    DatabaseTest::SetUp();
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(
          Put(fmt::format("user:{}", i), fmt::format(R"({{"_schema":"1","n":{},"x":7}})", i))
              .status.ok());
    }
    ASSERT_TRUE(Put("user:0bad", R"({"_schema":"1","n":0,"bad":true})").status.ok());
    ASSERT_TRUE(Put("user:bad", R"({"_schema":"1","n":0,"bad":true})").status.ok());
    ASSERT_TRUE(Put("user:new", R"({"_schema":"2","n":0})").status.ok());
    ASSERT_TRUE(Put("other", R"({"_schema":"1"})").status.ok());
    SetType(std::string(kType), std::string(kCode));
  }
  void SetType(const std::string& text, const std::string& code) {
    const auto type = doctype::TypeOf(text, {{"m.js", code}});
    ASSERT_TRUE(database_->admin()
                    .PutType({.bucket = "b"}, {"user", json::ToText(doctype::ToJson(*type))})
                    .ok());
  }
  // Waits until the job has ended. A job with a rate goes on when the clock moves.
  MigrationJob Wait(MassMigration& migration) {
    return *migration.WaitUntil("user", [this](const MigrationJob& job) {
      clock_.AdvanceMs(1000);
      return job.state != State::kRunning;
    });
  }

  const SystemClock machine_;
};

TEST_F(MassMigrationTest, EveryDocumentOnce) {
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  EXPECT_EQ(migration.Find("user").error().id(), "migration.no_job");
  EXPECT_EQ(migration.Begin("nobody", {}).error().id(), "type.not_found");
  ASSERT_TRUE(migration.Begin("user", {.dry_run = true}));
  MigrationJob job = Wait(migration);
  EXPECT_EQ(job.migrated, 1000u);
  EXPECT_EQ(Get("user:1"), R"({"_schema":"1","n":1,"x":7})");

  const auto cas = (*database_->Get(keyspace_, "user:1"))->cas;
  ASSERT_TRUE(migration.Begin("user", {}));
  job = Wait(migration);
  EXPECT_EQ(job.state, State::kDone);
  EXPECT_EQ(job.documents, 1003u);
  EXPECT_EQ(job.migrated, 1000u);
  EXPECT_THAT(job.before, ElementsAre(Pair("1", 1002), Pair("2", 1)));
  EXPECT_THAT(job.after, ElementsAre(Pair("1", 2), Pair("2", 1001)));
  ASSERT_EQ(job.failures.size(), 2u);
  EXPECT_EQ(job.failures[0].key, "user:0bad");
  EXPECT_EQ(job.failures[1].key, "user:bad");
  EXPECT_THAT(job.failures[0].message, HasSubstr("no"));
  EXPECT_THAT(job.lost, testing::Contains(Pair("x", testing::Gt(900))));
  EXPECT_EQ(Get("user:1"), R"({"_schema":"2","n":2})");
  EXPECT_EQ(Get("other"), R"({"_schema":"1"})");
  EXPECT_EQ((*database_->Get(keyspace_, "user:1"))->cas, cas);
  EXPECT_TRUE(database_->revisions().List(keyspace_, "user:1")->empty());
  // Once more: nothing is left to do.
  ASSERT_TRUE(migration.Begin("user", {}));
  EXPECT_EQ(Wait(migration).migrated, 0u);
}

TEST_F(MassMigrationTest, GoesOnAfterARestartAndBesideWriters) {
  {
    MassMigration migration(*database_);
    ASSERT_TRUE(migration.Start().ok());
    ASSERT_TRUE(migration.Begin("user", {.rate = 2000}));
    EXPECT_EQ(migration.Begin("user", {}).error().id(), "migration.running");
  }
  Reopen();
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(Put(fmt::format("user:{}", i * 3), R"({"_schema":"1","n":5000})").status.ok());
  }
  const MigrationJob job = Wait(migration);
  EXPECT_EQ(job.state, State::kDone);
  for (int i = 0; i < 1000; ++i) {
    const std::string body = Get(fmt::format("user:{}", i));
    const bool written = i % 3 == 0 && i < 900;
    EXPECT_THAT(body, HasSubstr(fmt::format(R"("n":{})", written ? 5001 : i + 1))) << i;
    EXPECT_THAT(body, HasSubstr(R"("_schema":"2")"));
  }
}

// Two of them over one database, as on two servers.
TEST_F(MassMigrationTest, FollowsTheRowsOfAnother) {
  MassMigration here(*database_);  // its thread does not run
  MassMigration other(*database_);
  ASSERT_TRUE(other.Start().ok());
  ASSERT_TRUE(other.Begin("user", {.rate = 1}));
  EXPECT_EQ(here.Find("user")->state, State::kRunning);
  EXPECT_EQ(here.Find("user")->options.rate, 1u);
  EXPECT_EQ(here.Begin("user", {}).error().id(), "migration.running");
  // What one cancels is cancelled for the other one, and stays so when that ends its chunk.
  ASSERT_TRUE(here.Cancel("user").ok());
  EXPECT_EQ(Wait(other).state, State::kCancelled);
  EXPECT_EQ(here.Find("user")->state, State::kCancelled);
  ASSERT_TRUE(here.Begin("user", {}));
  EXPECT_EQ(Wait(other).state, State::kDone);
  EXPECT_EQ(here.Find("user")->state, State::kDone);
  EXPECT_EQ(json::ToText(here.Find("user")->ToJson()), json::ToText(other.Find("user")->ToJson()));
  EXPECT_EQ(Get("user:1"), R"({"_schema":"2","n":2})");
}

TEST_F(MassMigrationTest, DocumentsWithoutAVersion) {
  ASSERT_TRUE(database_->admin().DropType("user").ok());
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(Put(fmt::format("user:{}", i), R"({"n":1})").status.ok());
  SetType(std::string(kType), std::string(kCode));
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  ASSERT_TRUE(migration.Begin("user", {}));
  const MigrationJob job = Wait(migration);
  EXPECT_THAT(job.before, ElementsAre(Pair("1", 992), Pair("2", 1), Pair("none", 10)));
  EXPECT_THAT(job.after, ElementsAre(Pair("1", 2), Pair("2", 1001), Pair("none", 0)));
  EXPECT_EQ(Get("user:1"), R"({"_schema":"2","n":2})");
}

// Documents without a version that are of the current one only get it.
TEST_F(MassMigrationTest, UnversionedOnesOfTheCurrentVersion) {
  ASSERT_TRUE(database_->admin().DropType("user").ok());
  ASSERT_TRUE(Put("user:1", R"({"n":1})").status.ok());
  SetType(std::string(kType) + "unversioned: '2'\n", std::string(kCode));
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  ASSERT_TRUE(migration.Begin("user", {}));
  EXPECT_EQ(Wait(migration).after["none"], 0u);
  EXPECT_EQ(Get("user:1"), R"({"_schema":"2","n":1})");
}

// The version changes while it runs: it starts over, and leaves nothing behind.
TEST_F(MassMigrationTest, StartsOverForANewVersion) {
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  ASSERT_TRUE(migration.Begin("user", {.rate = 2000}));
  ASSERT_TRUE(
      migration.WaitUntil("user", [](const MigrationJob& job) { return job.migrated > 0; }));
  std::string type(kType);
  type.replace(type.find("\"2\""), 3, "\"3\"");
  std::string code(kCode);
  code.replace(code.rfind("};"), 2,
               ", '2 -> 3'(doc) { return {...doc, _schema: '3', three: true}; } };");
  SetType(type, code);
  const MigrationJob job = Wait(migration);
  EXPECT_EQ(job.state, State::kDone);
  EXPECT_EQ(job.restarts, 1u);
  EXPECT_EQ(job.to, "3");
  EXPECT_EQ(job.documents, 1003u);
  EXPECT_THAT(job.after, testing::Contains(Pair("3", 1001)));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_THAT(Get(fmt::format("user:{}", i)), HasSubstr(R"("three":true)")) << i;
  }
}

TEST_F(MassMigrationTest, IsCancelled) {
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  ASSERT_TRUE(migration.Begin("user", {.rate = 1}));
  ASSERT_TRUE(migration.Cancel("user").ok());
  EXPECT_EQ(Wait(migration).state, State::kCancelled);
}

TEST_F(MassMigrationTest, IsCancelledBeforeItsTurn) {
  {
    MassMigration migration(*database_);  // its thread does not run
    ASSERT_TRUE(migration.Begin("user", {}));
    ASSERT_TRUE(migration.Cancel("user").ok());
  }
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  EXPECT_EQ(migration.Find("user")->state, State::kCancelled);
  EXPECT_EQ(Get("user:1"), R"({"_schema":"1","n":1,"x":7})");
}

// The new job takes the place of the cancelled one, also if that has not ended its chunk.
TEST_F(MassMigrationTest, BeginsAgainAfterACancellation) {
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  ASSERT_TRUE(migration.Begin("user", {.rate = 1}));
  ASSERT_TRUE(migration.Cancel("user").ok());
  ASSERT_TRUE(migration.Begin("user", {.dry_run = true}));
  const MigrationJob job = Wait(migration);
  EXPECT_EQ(job.state, State::kDone);
  EXPECT_TRUE(job.options.dry_run);
  EXPECT_EQ(job.documents, 1003u);
}

// Documents of the job, in several shards that come and go.
class MovingMigrationTest : public MassMigrationTest,
                            public ::testing::WithParamInterface<uint16_t> {
 protected:
  MovingMigrationTest() {
    options_.shards = GetParam();
    const char* seed = std::getenv("SLUICE_SEED");
    seed_ = seed != nullptr ? std::strtoull(seed, nullptr, 10) : std::random_device()();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }
  void ExpectAllMigrated(const db::Database& database) {
    for (int i = 0; i < 1000; ++i) {
      const auto document = database.Get(keyspace_, fmt::format("user:{}", i));
      ASSERT_TRUE(document && *document);
      EXPECT_EQ((*document)->body, fmt::format(R"({{"_schema":"2","n":{}}})", i + 1));
    }
  }
  uint64_t seed_ = 0;
};

TEST_P(MovingMigrationTest, AShardThatIsAwayIsMigratedWhenItIsBack) {
  MassMigration migration(*database_);
  ASSERT_TRUE(migration.Start().ok());
  db::Ownership& ownership = database_->ownership();
  ASSERT_TRUE(migration.Begin("user", {.rate = 5000}));
  Random random(seed_);
  std::map<db::ShardId, db::Sequence> away;  // and where their logs ended
  for (int i = 0; i < 200; ++i) {
    const auto shard = static_cast<db::ShardId>(random.Below(GetParam()));
    if (const auto taken = away.find(shard); taken != away.end()) {
      EXPECT_EQ(database_->followers().LastSequence(shard), taken->second);
      ownership.Give(shard);
      away.erase(taken);
    } else {
      ownership.Take(shard);
      away[shard] = database_->followers().LastSequence(shard);
    }
    clock_.AdvanceMs(random.Below(3));
  }
  for (const auto& [shard, sequence] : away) {
    EXPECT_EQ(database_->followers().LastSequence(shard), sequence);
    ownership.Give(shard);
  }
  const MigrationJob job = Wait(migration);
  EXPECT_EQ(job.state, State::kDone);
  EXPECT_EQ(job.migrated, 1000u);
  EXPECT_EQ(job.documents, 1003u) << "each is looked at once";
  EXPECT_THAT(job.after, ElementsAre(Pair("1", 2), Pair("2", 1001)));
  EXPECT_EQ(job.failures.size(), 2u);
  ExpectAllMigrated(*database_);
}

TEST_P(MovingMigrationTest, TheNextOwnerGoesOn) {
  db::TestServers servers(directory_ / "server", options_, clock_);
  ASSERT_TRUE(servers[0].admin().CreateBucket("b").ok());
  keyspace_ = *servers[0].Resolve({.bucket = "b"});
  for (int i = 0; i < 1000; ++i) {
    const std::string key = fmt::format("user:{}", i);
    db::Commit commit;
    commit.shard = servers[0].ShardOf(keyspace_, key);
    commit.writes.push_back(
        db::PutWrite(keyspace_, key, Json(fmt::format(R"({{"_schema":"1","n":{}}})", i))));
    ASSERT_TRUE(servers[0].Apply(std::move(commit)).status.ok());
  }
  const auto type = doctype::TypeOf(std::string(kType), {{"m.js", std::string(kCode)}});
  ASSERT_TRUE(servers[0]
                  .admin()
                  .PutType({.bucket = "b"}, {"user", json::ToText(doctype::ToJson(*type))})
                  .ok());
  servers.FeedAll(1);
  std::array<std::unique_ptr<MassMigration>, 2> migrations;
  for (size_t n = 0; n < 2; ++n) {
    migrations[n] = std::make_unique<MassMigration>(servers[n]);
    ASSERT_TRUE(migrations[n]->Start().ok());
  }
  ASSERT_TRUE(migrations[0]->Begin("user", {.rate = 5000}));
  Random random(seed_);
  for (int i = 0; i < 100; ++i) {
    servers.Move(static_cast<db::ShardId>(random.Below(GetParam())), random.Below(2));
    clock_.AdvanceMs(random.Below(5));
  }
  servers.MoveAll(1);
  const MigrationJob job = *migrations[1]->WaitUntil("user", [this](const MigrationJob& at) {
    clock_.AdvanceMs(1000);
    return at.state != State::kRunning;
  });
  EXPECT_EQ(job.state, State::kDone);
  EXPECT_EQ(job.migrated, 1000u);
  EXPECT_EQ(job.documents, 1000u);
  ExpectAllMigrated(servers[1]);
  for (auto& migration : migrations) migration.reset();
}

INSTANTIATE_TEST_SUITE_P(Shards, MovingMigrationTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::doctype_db
