// What statements use of documents, as it is seen when they run.
#include "query/plan/traffic_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"
#include "query/engine.h"

namespace sluice::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class TrafficUseTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    db::DatabaseTest::SetUp();
    ASSERT_TRUE(database_->admin().CreateBucket("users").ok());
    users_ = *database_->Resolve({.bucket = "users"});
    engine_ = std::make_unique<QueryEngine>(*database_, EngineOptions{});
  }
  void TearDown() override { engine_.reset(); }

  void Run(const std::string& text, int times = 1) {
    for (int i = 0; i < times; ++i) {
      auto run = engine_->Query(text, {}, {});
      ASSERT_TRUE(run) << text << ": " << run.error().ToString();
    }
  }
  db::KeyspaceTraffic Seen() { return database_->operations().TrafficOf(keyspace_); }

  db::KeyspaceId users_ = 0;
  std::unique_ptr<QueryEngine> engine_;
};

TEST_F(TrafficUseTest, PathsOfStatementsThatRan) {
  Run("SELECT o.a.b, o.list[2].c FROM b AS o WHERE o.d = 1", 3);
  Run("SELECT p.n FROM b AS o UNNEST o.parts AS p");
  Run("UPDATE b SET e = f + 1 WHERE g = 2");
  ASSERT_TRUE(engine_->Prepare("SELECT never FROM b", {}));
  const db::KeyspaceTraffic seen = Seen();
  EXPECT_EQ(seen.statements, 5u);
  EXPECT_EQ(seen.whole, 0u);
  EXPECT_TRUE(seen.complete);
  EXPECT_THAT(seen.paths, ElementsAre(Pair("a.b", 3), Pair("d", 3), Pair("f", 1), Pair("g", 1),
                                      Pair("list[].c", 3), Pair("parts", 1)));
}

TEST_F(TrafficUseTest, WholeDocuments) {
  Run("SELECT * FROM b");
  Run("SELECT RAW o FROM b AS o", 2);
  EXPECT_EQ(Seen().whole, 3u);
}

TEST_F(TrafficUseTest, Joins) {
  Run("SELECT u.name FROM b AS o JOIN users AS u ON KEYS o.userId", 2);
  Run("SELECT u.name FROM b AS o JOIN users AS u ON META(u).id = o.userId AND u.x = 1");
  Run("SELECT u.name FROM users AS u JOIN b AS o ON o.userId = META(u).id");
  Run("SELECT u.name FROM b AS o, users AS u WHERE o.city = u.city AND o.n = 3");
  Run("SELECT p FROM b AS o UNNEST o.parts AS p");
  EXPECT_THAT(Seen().joins, ElementsAre(Pair(db::JoinUse{keyspace_, "city", users_}, 1),
                                        Pair(db::JoinUse{keyspace_, "userId", users_}, 4)));
  EXPECT_EQ(database_->operations().TrafficOf(users_).joins.size(), 2u);
}

TEST_F(TrafficUseTest, TooManyAreNotCounted) {
  db::Traffic traffic;
  for (size_t i = 0; i < db::Traffic::kMaxStatements; ++i) {
    ASSERT_NE(traffic.Enter({.reads = {{.keyspace = 7, .paths = {fmt::format("p{}", i)}}}}),
              nullptr);
  }
  EXPECT_TRUE(traffic.Of(7).complete);
  EXPECT_EQ(traffic.Enter({.reads = {{.keyspace = 7, .paths = {"more"}}}}), nullptr);
  EXPECT_FALSE(traffic.Of(7).complete);
  EXPECT_THAT(traffic.Of(7).paths, IsEmpty());
}

}  // namespace
}  // namespace sluice::query
