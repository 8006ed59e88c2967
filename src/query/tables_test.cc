// Statements on tables from several threads, in transactions, and after a restart.
#include <thread>

#include <gmock/gmock.h>

#include "db/test_database.h"
#include "db/transaction.h"
#include "query/cdb2_text.h"
#include "query/engine.h"
#include "query/index_compiler.h"

namespace sluice::query {
namespace {

using ::testing::ElementsAre;

class Tables : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }

  void Open() {
    engine_.reset();
    database_.reset();
    db::DatabaseOptions options;
    options.shards = 3;
    options.index_compiler = MakeIndexCompiler();
    auto database = db::Database::Open(directory_ / "data", options, clock_);
    ASSERT_TRUE(database) << database.error().ToString();
    database_ = std::move(*database);
    engine_ = std::make_unique<QueryEngine>(*database_, EngineOptions{});
  }

  // The rows as cdb2sql prints them, or the error.
  std::vector<std::string> Ask(std::string_view text, db::Transaction* transaction = nullptr) {
    RunRequest request;
    request.transaction = transaction;
    auto run = engine_->Query(text, {}, std::move(request));
    if (!run) return {run.error().message()};
    std::vector<std::string> rows;
    while ((*run)->Next()) rows.push_back(Cdb2Row((*run)->row(), "UTC"));
    if (!(*run)->status().ok()) return {(*run)->status().message()};
    return rows;
  }

  const db::TestDirectory directory_;
  const FakeClock clock_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<QueryEngine> engine_;
};

TEST_F(Tables, NoUpdateIsLost) {
  constexpr int kThreads = 4;
  constexpr int kUpdates = 20;
  Ask("CREATE TABLE t(i int)");
  Ask("INSERT INTO t VALUES (0)");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int n = 0; n < kUpdates; ++n) EXPECT_THAT(Ask("UPDATE t SET i = i + 1"), ElementsAre());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(Ask("SELECT i FROM t"), ElementsAre("(i=80)"));
}

TEST_F(Tables, AStatementWritesAllOrNothing) {
  Ask("CREATE TABLE t(i short)");
  EXPECT_EQ(Ask("INSERT INTO t SELECT value * 10000 AS v FROM generate_series(1, 5)").size(), 1u);
  EXPECT_THAT(Ask("SELECT * FROM t"), ElementsAre());
}

TEST_F(Tables, AFailedStatementLeavesItsTransactionAsItWas) {
  Ask("CREATE TABLE t(i short)");
  db::Transaction transaction(*database_);
  Ask("INSERT INTO t VALUES (1)", &transaction);
  EXPECT_EQ(Ask("INSERT INTO t VALUES (2), (99999)", &transaction).size(), 1u);
  EXPECT_THAT(Ask("SELECT i FROM t", &transaction), ElementsAre("(i=1)"));
  EXPECT_THAT(Ask("SELECT i FROM t"), ElementsAre());
  ASSERT_TRUE(transaction.Apply().status.ok());
  EXPECT_THAT(Ask("SELECT i FROM t"), ElementsAre("(i=1)"));
}

TEST_F(Tables, AreThereAfterARestart) {
  Ask("CREATE TABLE t(i int PRIMARY KEY, d datetime DEFAULT '2020-01-01', b blob)");
  Ask("INSERT INTO t (i, b) VALUES (1, x'00ff')");
  Open();
  EXPECT_THAT(Ask("SELECT * FROM t"),
              ElementsAre("(i=1, d=\"2020-01-01T000000.000 UTC\", b=x'00ff')"));
  EXPECT_EQ(Ask("INSERT INTO t (i) VALUES (1)"),
            std::vector<std::string>{"table 't' has a row with this key 'primary' already"});
}

TEST(Cdb2Text, PrintsEveryType) {
  EXPECT_EQ(Cdb2Row(Value::Object({{"i", 1},
                                   {"d", 3.142857142857143},
                                   {"c", "it's"},
                                   {"b", Value::Bytes("\xde\xad")},
                                   {"t", json::Datetime{1'576'779'262'330'000}},
                                   {"u", json::Datetime{1'576'779'262'330'001}},
                                   {"y", json::Interval{json::Interval::Kind::kYearMonth, 5}},
                                   {"n", nullptr},
                                   {"a", Value::Array({1, 2})}}),
                    "America/New_York"),
            "(i=1, d=3.142857, c='it's', b=x'dead', "
            "t=\"2019-12-19T131422.330 America/New_York\", "
            "u=\"2019-12-19T131422.330001 America/New_York\", y=\"0-5\", n=NULL, a='[1,2]')");
  EXPECT_EQ(Cdb2Row(Value("first"), "UTC"), "($0='first')");
  EXPECT_EQ(
      Cdb2Row(Value::Object({{"y", json::Interval{json::Interval::Kind::kYearMonth, -5}},
                             {"s", json::Interval{json::Interval::Kind::kDaySecond, -50'000'000}}}),
              "UTC"),
      "(y=\"- 0-5\", s=\"- 0 00:00:50.000\")");
  // Two columns of one name, and one that is called so.
  EXPECT_EQ(Cdb2Row(Value::Object({{"i", 2}, {"i:1", 1}, {"j:1", 3}}), "UTC"), "(i=2, i=1, j:1=3)");
}

TEST_F(Tables, ColumnsAreShownByTheirTypes) {
  Ask("CREATE TABLE t (i int, d double, u datetimeus, s intervaldsus)");
  Ask("INSERT INTO t VALUES (1, 2, 3, 4)");
  const auto shown = [&](const std::string& statement) {
    auto run = *engine_->Query(statement, {}, {});
    EXPECT_TRUE(run->Next());
    return Cdb2Row(run->row(), "UTC", Cdb2TypesOf(statement, *database_->catalog()));
  };
  EXPECT_EQ(shown("SELECT * FROM t"),
            "(i=1, d=2.000000, u=\"1970-01-01T000003.000000 UTC\", s=\"0 00:00:04.000000\")");
  EXPECT_EQ(shown("SELECT x.d AS e, d + 1 AS f, u FROM t AS x"),
            "(e=2.000000, f=3, u=\"1970-01-01T000003.000000 UTC\")");
}

}  // namespace
}  // namespace sluice::query
