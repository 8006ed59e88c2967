#include "query/exec/profile.h"

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "query/engine.h"
#include "query/result_text.h"

namespace sluice::query {
namespace {

class ProfileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = db::Database::Open(directory_ / "data", {}, clock_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    database_ = std::move(*opened);
    engine_ = std::make_unique<QueryEngine>(*database_, EngineOptions{});
    Profiled("CREATE BUCKET b");
    Profiled(R"(INSERT INTO b (KEY k, VALUE v) SELECT TO_STR(n) AS k, {"n": n, "g": n % 2} AS v
                FROM ARRAY_RANGE(0, 5) AS n)");
  }

  // The profile after all rows were read.
  Value Profiled(const std::string& statement,
                 QueryEngine::Profiling profiling = QueryEngine::Profiling::kOn) {
    auto plan = engine_->Prepare(statement, {}, profiling);
    EXPECT_TRUE(plan) << plan.error().ToString();
    auto run = engine_->Execute(*plan, {});
    EXPECT_TRUE(run) << run.error().ToString();
    while ((*run)->Next()) {
    }
    EXPECT_TRUE((*run)->status().ok()) << (*run)->status().ToString();
    return (*run)->profile();
  }
  static int64_t Rows(const Value& node) { return node["#stats"]["#itemsOut"].AsInt(); }

  const db::TestDirectory directory_;
  const FakeClock clock_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<QueryEngine> engine_;
};

TEST_F(ProfileTest, EachOperatorTellsItsRows) {
  const Value sort =
      Profiled("SELECT x.g, COUNT(*) AS c FROM b AS x WHERE x.n > 1 GROUP BY x.g ORDER BY x.g");
  EXPECT_EQ(sort["operator"].AsString(), "Sort");
  EXPECT_EQ(Rows(sort), 2);
  const Value& group = sort["input"];
  EXPECT_EQ(Rows(group), 2);
  const Value& scan = group["input"];
  EXPECT_EQ(ResultText(scan),
            R"({"operator":"PrimaryScan","keyspace":"b","as":"x","filtered":true,)"
            R"("#stats":{"#itemsOut":3,"execTime":"0s"}})");
}

TEST_F(ProfileTest, InputsThatAreOpenedAgainTellHowOften) {
  const Value project = Profiled("SELECT RAW v FROM b AS x UNNEST [x.n, 7] AS v");
  const Value& join = project["input"];
  EXPECT_EQ(Rows(join), 10);
  EXPECT_EQ(Rows(join["left"]), 5);
  EXPECT_EQ(Rows(join["right"]), 10);
  EXPECT_EQ(join["right"]["#stats"]["#opens"].AsInt(), 5);
  EXPECT_TRUE(join["left"]["#stats"]["#opens"].is_missing());
}

TEST_F(ProfileTest, WritesAndNewPlansCount) {
  const Value update = Profiled("UPDATE b AS x SET x.m = 1 WHERE x.n < 2 RETURNING x.m");
  EXPECT_EQ(Rows(update), 2);
  EXPECT_EQ(Rows(update["input"]), 2);
  // A plan that is made again because the catalog has changed is profiled, too.
  auto plan = engine_->Prepare("SELECT RAW n FROM b", {}, QueryEngine::Profiling::kOn);
  Profiled("CREATE BUCKET other");
  auto run = engine_->Execute(*plan, {});
  ASSERT_TRUE(run && (*run)->Next());
  EXPECT_EQ(Rows((*run)->profile()), 1);
}

TEST_F(ProfileTest, OtherPlansHaveNone) {
  EXPECT_TRUE(Profiled("SELECT 1", QueryEngine::Profiling::kOff).is_missing());
}

}  // namespace
}  // namespace sluice::query
