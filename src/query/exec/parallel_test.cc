// Statements give the same rows whether their scan is divided among threads or not.
#include "query/exec/parallel.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"
#include "query/engine.h"
#include "query/result_text.h"
#include "query/turns.h"

namespace sluice::query {
namespace {

class ParallelTest : public ::testing::Test {
 protected:
  static constexpr int kDocuments = 6000;

  void SetUp() override {
    auto opened = db::Database::Open(directory_ / "data", {}, clock_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    database_ = std::move(*opened);
    ASSERT_TRUE(database_->admin().CreateBucket("b").ok());
    keyspace_ = *database_->Resolve({.bucket = "b"});
    db::Commit commit;
    for (int i = 0; i < kDocuments; ++i) {
      commit.writes.push_back(db::PutWrite(keyspace_, "k" + std::to_string(100'000 + i),
                                           db::Document{.body = Body(i)}));
    }
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
    MakeEngine({.threads = 4});
  }

  void MakeEngine(EngineOptions options) {
    engine_ = std::make_unique<QueryEngine>(*database_, std::move(options));
  }

  // Every hundredth document has no group, and the last one's divisor is zero.
  static std::string Body(int i) {
    std::string body = "{\"n\":" + std::to_string(i) + ",\"half\":" + std::to_string(i) + ".5";
    if (i % 100 != 0) body += ",\"g\":\"g" + std::to_string(i * 7 % 13) + "\"";
    body += ",\"third\":" + std::to_string(i / 3.0) +
            ",\"same\":" + std::string(i % 3 == 0 ? "7.0" : "7");
    body += ",\"d\":" + std::to_string(kDocuments - 1 - i) + ",\"list\":[" + std::to_string(i % 5) +
            "," + std::to_string(i % 3) + "],\"fill\":\"" + std::string(300, 'x') + "\"}";
    return body;
  }

  // The rows, then the error and the warnings.
  std::vector<std::string> Ask(const std::string& statement, RunRequest request) {
    auto run = engine_->Query(statement, {}, std::move(request));
    if (!run) return {run.error().ToString()};
    std::vector<std::string> answer;
    while ((*run)->Next()) answer.push_back(ResultText((*run)->row()));
    if (!(*run)->status().ok()) answer.push_back((*run)->status().ToString());
    for (const Warning& warning : (*run)->warnings()) answer.push_back(warning.message);
    EXPECT_EQ(engine_->threads().left(), engine_->threads().limit()) << statement;
    return answer;
  }
  std::vector<std::string> Ask(const std::string& statement, size_t threads) {
    RunRequest request;
    request.max_parallelism = threads;
    return Ask(statement, std::move(request));
  }
  void ExpectSame(const std::string& statement) {
    const std::vector<std::string> expected = Ask(statement, 1);
    EXPECT_EQ(Ask(statement, 4), expected) << statement;
    EXPECT_EQ(Ask(statement, 2), expected) << statement;
  }

  const db::TestDirectory directory_;
  FakeClock clock_;
  std::unique_ptr<db::Database> database_;
  db::KeyspaceId keyspace_ = 0;
  std::unique_ptr<QueryEngine> engine_;
};

TEST_F(ParallelTest, GroupsAreThoseOfOneThread) {
  ASSERT_GT(database_->estimates().SplitPoints(keyspace_, 16).size(), 3u);
  for (const char* statement : {
           "SELECT COUNT(*) AS n, SUM(half) AS s, MIN(n) AS a, MAX(n) AS z FROM b WHERE n % 3 = 1",
           "SELECT SUM(third) AS s, AVG(third) AS a, SUM(n) AS w FROM b",
           "SELECT g, COUNT(*) AS n, AVG(n) AS a FROM b GROUP BY g",
           "SELECT g, COUNT(DISTINCT n % 10) AS n, SUM(DISTINCT third) AS s FROM b GROUP BY g",
           "SELECT STDDEV(third) AS d, VAR_POP(n) AS v, MEDIAN(third) AS m FROM b",
           "SELECT g, ARRAY_AGG(n) AS all FROM b WHERE n > 5900 GROUP BY g",
           "SELECT n % 2 AS h, ARRAY_AGG(same) AS s, MIN(same) AS a, MAX(same) AS z, "
           "ARRAY_AGG(DISTINCT same) AS d FROM b WHERE n % 40 < 2 GROUP BY n % 2",
           "SELECT g, COUNT(*) FILTER (WHERE n > 3000) AS n FROM b GROUP BY g HAVING COUNT(*) > 3",
           "SELECT g, ARRAY_LENGTH(rows) AS n, rows[0].x.n AS f FROM b AS x GROUP BY x.g AS g "
           "GROUP AS rows",
           "SELECT n, COUNT(*) AS c FROM b GROUP BY n",
           "SELECT COUNT(*) AS n FROM b WHERE n < 0",
           "SELECT g FROM b WHERE n < 0 GROUP BY g",
           "SELECT g, COUNT(*) AS n FROM b GROUP BY g LIMIT 3",
           "SELECT SUM(1 / d) AS s FROM b",
       }) {
    ExpectSame(statement);
  }
}

TEST_F(ParallelTest, SortedRowsAreThoseOfOneThread) {
  for (const char* statement : {
           "SELECT n FROM b ORDER BY g DESC, n % 4 LIMIT 50 OFFSET 7",
           "SELECT RAW n FROM b ORDER BY n % 11",
           "SELECT RAW n FROM b ORDER BY g NULLS LAST, n DESC OFFSET 5990",
           "SELECT RAW n FROM b WHERE n % 7 = 2 ORDER BY n % 3 DESC LIMIT 3",
           "SELECT RAW n FROM b ORDER BY n LIMIT 0",
           "SELECT RAW n FROM b ORDER BY 'all the same' LIMIT 5",
       }) {
    ExpectSame(statement);
  }
}

TEST_F(ParallelTest, JoinsAndSubqueriesAreThoseOfOneThread) {
  for (const char* statement : {
           "SELECT i, COUNT(*) AS n FROM b UNNEST b.list AS i GROUP BY i",
           "SELECT o.g, COUNT(*) AS n FROM b AS x JOIN b AS o "
           "ON META(o).id = 'k' || TOSTRING(100000 + x.n % 50) WHERE x.n < 3000 GROUP BY o.g",
           "SELECT COUNT(*) AS n FROM b AS x JOIN [1, 2, 3] AS t ON x.n % 9 < t",
           "SELECT t, (SELECT RAW COUNT(*) FROM b WHERE n % 5 = t) AS c FROM [1, 2] AS t",
           "WITH top AS (SELECT RAW MAX(n) FROM b) SELECT COUNT(*) AS n FROM b WHERE n = top[0]",
           "SELECT COUNT(*) AS n FROM b WHERE n IN (SELECT RAW MAX(x.n) FROM b AS x GROUP BY x.g)",
           "SELECT t, (SELECT RAW COUNT(*) FROM b WHERE n % 5 = t "
           "AND n > (SELECT RAW AVG(y.n) FROM b AS y)[0]) AS c FROM [1, 2] AS t",
           "SELECT COUNT((SELECT RAW i FROM b.list AS i WHERE i = b.n % 5)[0]) AS n FROM b",
       }) {
    ExpectSame(statement);
  }
}

TEST_F(ParallelTest, ErrorsAreThoseOfOneThread) {
  const auto failing = [](const std::string& when) {
    return "SELECT COUNT(REGEXP_CONTAINS('a', CASE WHEN " + when +
           " THEN '(' || TOSTRING(n) ELSE 'a' END)) AS n FROM b";
  };
  for (const char* when : {"n = 5990", "n = 10", "n % 1000 = 999", "n >= 0"}) {
    const std::vector<std::string> answer = Ask(failing(when), 4);
    ASSERT_EQ(answer.size(), 1u) << when;
    EXPECT_NE(answer[0].find("is not a regular expression"), std::string::npos) << answer[0];
    EXPECT_EQ(answer, Ask(failing(when), 1)) << when;
  }
  ExpectSame("SELECT COUNT(*) AS n FROM b WHERE n IN (SELECT RAW REGEXP_CONTAINS('a', '('))");
}

// The clock of a statement's turn. It calls a function at the tenth look: in the middle of a run.
class LookedAtClock final : public Clock {
 public:
  explicit LookedAtClock(std::function<void()> call) : call_(std::move(call)) {}
  uint64_t WallNs() const override { return MonotonicNs(); }
  uint64_t MonotonicNs() const override {
    if (++looks_ == 10) call_();
    return 0;
  }

 private:
  const std::function<void()> call_;
  mutable std::atomic<int> looks_ = 0;
};

struct DuringTheRun {
  explicit DuringTheRun(std::function<void()> call) : clock(std::move(call)) {}

  const LookedAtClock clock;
  LongTurns turns{1, clock};
  const std::shared_ptr<Turn> turn = std::make_shared<Turn>(turns);
};

TEST_F(ParallelTest, CancellationAndTimeoutsReachEveryThread) {
  RunRequest cancelled;
  cancelled.cancelled = std::make_shared<std::atomic<bool>>(true);
  std::vector<std::string> answer = Ask("SELECT g, SUM(n) FROM b GROUP BY g", std::move(cancelled));
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_NE(answer[0].find("was cancelled"), std::string::npos) << answer[0];
  // Without end, were it not stopped: each row of each thread reads everything.
  const std::string endless =
      "SELECT COUNT(*) FROM b AS x JOIN b AS y ON x.n + y.n < 0 JOIN b AS z ON z.n + y.n < 0";
  RunRequest later;
  later.cancelled = std::make_shared<std::atomic<bool>>(false);
  DuringTheRun cancel([flag = later.cancelled] { *flag = true; });
  later.turn = cancel.turn;
  answer = Ask(endless, std::move(later));
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_NE(answer[0].find("was cancelled"), std::string::npos) << answer[0];
  RunRequest timed;
  timed.timeout_ms = 20;
  DuringTheRun time([this] { clock_.AdvanceMs(30); });
  timed.turn = time.turn;
  answer = Ask(endless, std::move(timed));
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_NE(answer[0].find("ran out of its time"), std::string::npos) << answer[0];
}

// What fits for one thread fits for several, which then are not used; what does not, does not.
TEST_F(ParallelTest, TheMemoryLimitIsTheSame) {
  const std::string few = "SELECT g, COUNT(*) AS n FROM b GROUP BY g";
  const std::string many = "SELECT n, COUNT(*) AS c FROM b GROUP BY n";
  const std::string distinct = "SELECT COUNT(DISTINCT n % 1000) AS n FROM b";
  const std::string sorted = "SELECT RAW n FROM b ORDER BY n % 11";
  for (size_t limit = 4 << 10; limit <= 4 << 20; limit += limit / 4) {
    MakeEngine({.memory_limit_bytes = limit, .threads = 4});
    for (const std::string& statement : {few, many, distinct, sorted}) ExpectSame(statement);
  }
}

TEST_F(ParallelTest, ThreadsAreSharedByAllStatements) {
  const ThreadBudget::Lease taken = engine_->threads().Take(100);
  EXPECT_EQ(taken.count(), 3u);
  auto run = engine_->Query("SELECT RAW COUNT(*) FROM b", {}, {});
  ASSERT_TRUE(run) << run.error().ToString();
  ASSERT_TRUE((*run)->Next()) << (*run)->status().ToString();
  EXPECT_EQ((*run)->row(), Value(kDocuments));
}

TEST_F(ParallelTest, TransactionsReadWithOneThread) {
  db::Transaction transaction(*database_);
  RunRequest request;
  request.transaction = &transaction;
  request.max_parallelism = 4;
  EXPECT_EQ(engine_->ParallelismOf(request), 1u);
  EXPECT_EQ(Ask("SELECT RAW COUNT(*) FROM b", std::move(request)),
            std::vector<std::string>{std::to_string(kDocuments)});
}

TEST_F(ParallelTest, ExplainTellsWhatIsDivided) {
  const auto explain = [&](const std::string& statement, size_t threads) {
    return Ask("EXPLAIN " + statement, threads)[0];
  };
  using testing::HasSubstr;
  using testing::Not;
  const std::string grouped = "SELECT g, COUNT(*) FROM b GROUP BY g";
  EXPECT_THAT(explain(grouped, 0), HasSubstr(R"("max_parallelism":4)"));
  EXPECT_THAT(explain(grouped, 3), HasSubstr(R"("max_parallelism":3)"));
  EXPECT_THAT(explain(grouped, 100), HasSubstr(R"("max_parallelism":4)"));
  EXPECT_THAT(explain(grouped, 0), HasSubstr(R"("parallel":true)"));
  EXPECT_THAT(explain("SELECT n FROM b ORDER BY n", 0), HasSubstr(R"("parallel":true)"));
  EXPECT_THAT(explain("SELECT n FROM b", 0), Not(HasSubstr("parallel")));
  EXPECT_THAT(explain("SELECT STDDEV(n) FROM b", 0), Not(HasSubstr("parallel")));
  EXPECT_THAT(explain("SELECT COUNT(*) FROM b USE KEYS 'k'", 0), Not(HasSubstr("parallel")));
}

}  // namespace
}  // namespace sluice::query
