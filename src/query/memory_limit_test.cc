// Whatever a statement holds on to counts: each operator that keeps rows ends at the memory limit
// with error 5500, and with less to keep gives its answer.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <malloc.h>

#include "db/test_database.h"
#include "db/transaction.h"
#include "query/engine.h"
#include "query/error.h"
#include "query/index_compiler.h"

namespace sluice::query {
namespace {

constexpr size_t kLimit = 2 << 20;
constexpr int kMany = 3000;
constexpr int kFew = 3;

// Each works on %d rows with a text of 2000 bytes.
constexpr std::string_view kStatements[] = {
    // ORDER BY
    "SELECT RAW s FROM src ORDER BY n",
    "SELECT RAW n FROM src ORDER BY s DESC",
    "SELECT RAW s FROM src ORDER BY -n LIMIT 100000",
    // GROUP BY: keys, ARRAY_AGG, GROUP AS, DISTINCT aggregates
    "SELECT s, COUNT(*) AS c FROM src GROUP BY s",
    "SELECT ARRAY_AGG(s) AS a FROM src",
    "SELECT n % 2 AS k, g FROM src GROUP BY n % 2 GROUP AS g",
    "SELECT COUNT(DISTINCT s) AS c FROM src",
    // DISTINCT and set operators
    "SELECT DISTINCT RAW s FROM src",
    "SELECT RAW s FROM src UNION SELECT RAW s || 'x' FROM src",
    "SELECT RAW 1 INTERSECT SELECT RAW s FROM src",
    "SELECT RAW 1 EXCEPT ALL SELECT RAW s FROM src",
    // joins: the table of a hash join, kept rows of a nested loop, NEST
    "SELECT RAW COUNT(*) FROM [1] AS l JOIN src AS r ON l = r.n AND r.s != ''",
    "SELECT RAW COUNT(*) FROM [1, 2] AS l JOIN src AS r ON l < r.n AND r.s != ''",
    "SELECT RAW ARRAY_LENGTH(r) FROM [1] AS l NEST docs AS r ON r.n >= l",
    // windows
    "SELECT s, ROW_NUMBER() OVER (ORDER BY n) AS r FROM src",
    "SELECT n, FIRST_VALUE(s) OVER (ORDER BY s) AS f FROM src",
    // comprehensions, constructors, LET, arguments
    "SELECT RAW ARRAY REPEAT('x', 2000) || TO_STR(i) FOR i IN ARRAY_RANGE(0, ROWS) END",
    "SELECT RAW OBJECT TO_STR(i) : REPEAT('x', 2000) FOR i IN ARRAY_RANGE(0, ROWS) END",
    "SELECT RAW [ARRAY REPEAT('x', 200) FOR i IN ARRAY_RANGE(0, ROWS) END, "
    "ARRAY REPEAT('y', 200) FOR i IN ARRAY_RANGE(0, ROWS) END, "
    "ARRAY REPEAT('z', 200) FOR i IN ARRAY_RANGE(0, ROWS) END]",
    "SELECT RAW ARRAY_LENGTH(ARRAY_CONCAT(ARRAY REPEAT('x', 200) FOR i IN ARRAY_RANGE(0, ROWS) "
    "END, "
    "ARRAY REPEAT('y', 200) FOR i IN ARRAY_RANGE(0, ROWS) END, "
    "ARRAY REPEAT('z', 200) FOR i IN ARRAY_RANGE(0, ROWS) END))",
    "SELECT RAW 1 LET a = ARRAY REPEAT('x', 200) FOR i IN ARRAY_RANGE(0, ROWS) END, "
    "b = ARRAY REPEAT('y', 200) FOR i IN ARRAY_RANGE(0, ROWS) END, "
    "c = ARRAY REPEAT('z', 200) FOR i IN ARRAY_RANGE(0, ROWS) END",
    // subqueries and WITH
    "SELECT RAW ARRAY_LENGTH((SELECT RAW s FROM src))",
    "WITH w AS (SELECT RAW s FROM src) SELECT RAW ARRAY_LENGTH(w)",
    "WITH RECURSIVE w AS (SELECT 1 AS n, 'x' AS s UNION SELECT w.n + 1 AS n, REPEAT('x', 2000) AS "
    "s "
    "FROM w WHERE w.n < ROWS) SELECT RAW COUNT(*) FROM w",
};

class MemoryLimit : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    db::DatabaseOptions options;
    options.index_compiler = MakeIndexCompiler();
    auto opened = db::Database::Open(directory_ / "data", options, clock_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    database_ = std::move(*opened);
    engine_ =
        std::make_unique<QueryEngine>(*database_, EngineOptions{.memory_limit_bytes = kLimit});
    ASSERT_TRUE(Run("CREATE BUCKET docs").ok());
  }

  Status Run(const std::string& statement, db::Transaction* transaction = nullptr) {
    RunRequest request;
    request.transaction = transaction;
    auto run = engine_->Query(statement, {}, std::move(request));
    if (!run) return run.error();
    while ((*run)->Next()) ++rows_;
    return (*run)->status();
  }

  // The statement with sources of that many rows.
  static std::string With(std::string_view statement, int rows) {
    std::string text(statement);
    const std::string source = fmt::format(
        "(SELECT n, REPEAT('x', 2000) || TO_STR(n) AS s FROM ARRAY_RANGE(1, {} + 1) AS n)", rows);
    for (const auto& [name, value] :
         {std::pair<std::string, std::string>{"src AS r", source + " AS r"},
          {"FROM src", "FROM " + source + " AS src"},
          {"ROWS", std::to_string(rows)}}) {
      for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size()) {
        text.replace(at, name.size(), value);
      }
    }
    return text;
  }

  const db::TestDirectory directory_;
  const FakeClock clock_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<QueryEngine> engine_;
  size_t rows_ = 0;
};

TEST_P(MemoryLimit, EndsWhatKeepsTooMuch) {
  const std::string fill = "UPSERT INTO docs (KEY TO_STR(src.n), VALUE src) SELECT src FROM src";
  ASSERT_TRUE(Run(With(fill, kFew)).ok());
  const Status few = Run(With(GetParam(), kFew));
  EXPECT_TRUE(few.ok()) << few.ToString();
  ASSERT_TRUE(Run(With(fill, kMany)).ok());
  const Status many = Run(With(GetParam(), kMany));
  EXPECT_EQ(CodeOf(many), QueryCode::kMemoryQuota) << many.ToString() << GetParam();
}

// An error after some documents were written says how many.
using PartialWrites = MemoryLimit;
TEST_F(PartialWrites, AreCounted) {
  ASSERT_TRUE(
      Run(With("UPSERT INTO docs (KEY TO_STR(src.n), VALUE src) SELECT src FROM src", 2000)).ok());
  const Status failed =
      Run("UPDATE docs SET v = CASE WHEN n = 1999 THEN ABORT('no') ELSE 1 END WHERE n > 0");
  EXPECT_FALSE(failed.ok());
  EXPECT_NE(failed.message().find(" documents were changed before that and stay so)"),
            std::string::npos)
      << failed.ToString();
}

INSTANTIATE_TEST_SUITE_P(Statements, MemoryLimit, ::testing::ValuesIn(kStatements));

// Notes how much memory is in use whenever a statement looks at the time.
class SamplingClock final : public Clock {
 public:
  uint64_t WallNs() const override {
    most_ = std::max(most_, InUse());
    return 1'700'000'000'000'000'000;
  }
  uint64_t MonotonicNs() const override { return WallNs(); }
  static size_t InUse() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  size_t most() const { return most_; }
  void Forget() { most_ = 0; }

 private:
  mutable size_t most_ = 0;  // one thread
};

// What is counted is about what is there: the limit is one of the process's memory, too.
TEST(MemoryUse, IsNotMuchMoreThanTheLimit) {
  constexpr size_t kHalf = size_t{32} << 20;
  SamplingClock clock;
  const db::TestDirectory directory;
  db::DatabaseOptions options;
  options.index_compiler = MakeIndexCompiler();
  auto database = db::Database::Open(directory / "data", options, clock);
  ASSERT_TRUE(database) << database.error().ToString();
  QueryEngine engine(**database, EngineOptions{.memory_limit_bytes = 2 * kHalf, .threads = 1});
  for (const std::string_view statement : {
           "SELECT x, y, SUM(x) AS s, COUNT(DISTINCT y) AS c FROM ARRAY_RANGE(0, 3000) AS x "
           "UNNEST ARRAY_RANGE(0, 3000) AS y GROUP BY x, y",
           "SELECT x, y, COUNT(*) AS n FROM ARRAY_RANGE(0, 3000) AS x "
           "UNNEST ARRAY_RANGE(0, 3000) AS y GROUP BY x, y",
           "SELECT x, y, x + y AS z, 'a text that is longer' || TO_STR(x) AS t "
           "FROM ARRAY_RANGE(0, 3000) AS x UNNEST ARRAY_RANGE(0, 3000) AS y ORDER BY y",
           "SELECT DISTINCT x, y FROM ARRAY_RANGE(0, 3000) AS x UNNEST ARRAY_RANGE(0, 3000) AS y",
           "SELECT x, y, RANK() OVER (ORDER BY x) AS r FROM ARRAY_RANGE(0, 3000) AS x "
           "UNNEST ARRAY_RANGE(0, 3000) AS y",
           "SELECT RAW ARRAY [x, {'y': x}] FOR x IN ARRAY_RANGE(0, 1000000) END",
       }) {
    const size_t before = SamplingClock::InUse();
    clock.Forget();
    RunRequest request;
    request.timeout_ms = 1000;  // so that it looks at the time, which stands still
    auto run = engine.Query(std::string(statement), {}, std::move(request));
    ASSERT_TRUE(run) << run.error().ToString();
    while ((*run)->Next()) {
    }
    EXPECT_EQ(CodeOf((*run)->status()), QueryCode::kMemoryQuota) << statement;
    EXPECT_LT(clock.most(), before + 3 * kHalf) << statement;
  }
}

using TransactionMemory = MemoryLimit;

TEST_F(TransactionMemory, BoundsTheWritesOfAllItsStatements) {
  db::Transaction transaction(*database_);
  const std::string some = "UPSERT INTO docs (KEY TO_STR(src.n), VALUE src) SELECT src FROM src";
  ASSERT_TRUE(Run(With(some, kMany / 6), &transaction).ok());
  const size_t held = transaction.bytes();
  EXPECT_GT(held, size_t{kMany / 6 * 2000});
  const size_t savepoint = transaction.Savepoint();
  const Status more = Run(With(some, kMany / 2), &transaction);
  EXPECT_EQ(CodeOf(more), QueryCode::kMemoryQuota) << more.ToString();
  transaction.RollbackTo(savepoint);
  EXPECT_EQ(transaction.bytes(), held);
  EXPECT_TRUE(transaction.Apply().status.ok());
  EXPECT_EQ(transaction.bytes(), 0u);
}

}  // namespace
}  // namespace sluice::query
