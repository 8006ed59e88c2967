// Random queries over random documents must give the same rows however they are run: over a
// keyspace with indexes, over one without, over one that is large enough to be divided among
// threads, and over the same documents as a plain array, where nothing of the planner's and the
// scan's cleverness applies. So must every condition c, its three ways apart: rows where c is true,
// where NOT c is, and the others are all rows.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"
#include "json/print.h"
#include "query/engine.h"
#include "query/index_compiler.h"
#include "query/result_text.h"

namespace sluice::query {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSeed = 20261116;
constexpr int kDocuments = 300;
constexpr int kQueries = 400;
constexpr size_t kPadBytes = 3000;
constexpr size_t kThreads = 3;

class Equivalence : public ::testing::Test {
 protected:
  void Open() {
    engine_ = nullptr;
    database_ = nullptr;
    db::DatabaseOptions options;
    options.index_compiler = MakeIndexCompiler();
    auto opened = db::Database::Open(directory_ / "data", options, clock_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    database_ = std::move(*opened);
    engine_ = std::make_unique<QueryEngine>(*database_, EngineOptions{.threads = kThreads});
  }

  void SetUp() override {
    Open();
    Rows("CREATE BUCKET plain");
    Rows("CREATE BUCKET large");
    Rows("CREATE BUCKET indexed");
    for (const char* index :
         {"ia ON indexed(a)", "iab ON indexed(a, b DESC)", "ic ON indexed(c.d, a)",
          "itags ON indexed(DISTINCT tags)", "ipart ON indexed(b) WHERE a > 2",
          "iexpr ON indexed(a + 1)", "imiss ON indexed(b INCLUDE MISSING, a)",
          "iarr ON indexed(ALL ARRAY t FOR t IN tags END, a)", "id ON indexed(c.d)",
          "ib ON indexed(b)"}) {
      Rows(std::string("CREATE INDEX ") + index);
    }
    documents_ = Value::EmptyArray();
    db::Commit large;
    for (int i = 0; i < kDocuments; ++i) {
      const Value document = RandomDocument();
      documents_.Append(document);
      for (const char* bucket : {"plain", "indexed"}) {
        RunRequest request;
        request.positional = {Value(fmt::format("k{:03}", i)), document};
        Collect(fmt::format("UPSERT INTO {} VALUES ($1, $2)", bucket), std::move(request));
      }
      Value padded = document;
      std::string pad(kPadBytes, ' ');
      for (char& c : pad)
        c = static_cast<char>('0' + Pick(70));  // which no compression makes small
      padded.Set("pad", Value(pad));
      large.writes.push_back(db::PutWrite(*database_->Resolve({.bucket = "large"}),
                                          fmt::format("k{:03}", i),
                                          db::Document{.body = json::ToText(padded)}));
    }
    ASSERT_TRUE(database_->Apply(std::move(large)).status.ok());
    Open();  // what is in files has a size that is known
    ASSERT_GE(database_->estimates()
                  .SplitPoints(*database_->Resolve({.bucket = "large"}), kThreads)
                  .size(),
              2u);
  }

  int Pick(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }
  template <size_t N>
  std::string_view OneOf(const std::string_view (&choices)[N]) {
    return choices[static_cast<size_t>(Pick(static_cast<int>(N)))];
  }

  Value RandomScalar() {
    switch (Pick(8)) {
      case 0:
        return nullptr;
      case 1:
        return Pick(2) == 0;
      case 2:
        return Value(static_cast<double>(Pick(12)) / 2);
      case 3:
        return Value(std::string(static_cast<size_t>(Pick(3)), 'x'));
      case 4:
        return Value(fmt::format("s{}", Pick(5)));
      case 5:
        return Value::Array({Value(Pick(3)), Pick(3) == 0 ? Value(nullptr) : Value(1)});
      default:
        return Value(Pick(6));
    }
  }

  Value RandomDocument() {
    Value document = Value::EmptyObject();
    if (Pick(5) != 0) document.Set("a", RandomScalar());
    if (Pick(4) != 0) document.Set("b", RandomScalar());
    if (Pick(3) != 0) document.Set("c", Value::Object({{"d", RandomScalar()}}));
    Value tags = Value::EmptyArray();
    for (int i = Pick(4); i > 0; --i) tags.Append(RandomScalar());
    if (Pick(4) != 0) document.Set("tags", Pick(8) == 0 ? RandomScalar() : tags);
    return document;
  }

  std::string RandomLiteral() { return json::ToText(RandomScalar()); }

  std::string RandomCondition(int depth) {
    static constexpr std::string_view kPaths[] = {"x.a", "x.b", "x.c.d", "x.a + 1", "x.tags[0]"};
    static constexpr std::string_view kOperators[] = {"=", "!=", "<", "<=", ">", ">="};
    static constexpr std::string_view kTests[] = {"IS NULL", "IS NOT NULL", "IS MISSING",
                                                  "IS VALUED", "IS NOT VALUED"};
    if (depth > 0 && Pick(3) == 0) {
      return fmt::format("({} {} {})", RandomCondition(depth - 1), Pick(5) < 2 ? "OR" : "AND",
                         RandomCondition(depth - 1));
    }
    switch (Pick(9)) {
      case 0:
        return fmt::format("{} {}", OneOf(kPaths), OneOf(kTests));
      case 1:
        return fmt::format("{} BETWEEN {} AND {}", OneOf(kPaths), RandomLiteral(), RandomLiteral());
      case 2:
        return fmt::format("{} IN [{}, {}]", OneOf(kPaths), RandomLiteral(), RandomLiteral());
      case 3:
        return fmt::format("{} IN x.tags", RandomLiteral());
      case 4:
        return fmt::format("ANY t IN x.tags SATISFIES t {} {} END", OneOf(kOperators),
                           RandomLiteral());
      case 5:
        return fmt::format("x.b LIKE \"s{}%\"", Pick(3));
      case 6:
        return fmt::format("x.a > 2 AND x.b {} {}", OneOf(kOperators), RandomLiteral());
      default:
        return fmt::format("{} {} {}", OneOf(kPaths), OneOf(kOperators), RandomLiteral());
    }
  }

  std::vector<std::string> Collect(const std::string& statement, RunRequest request) {
    std::vector<std::string> rows;
    auto run = engine_->Query(statement, {}, std::move(request));
    EXPECT_TRUE(run) << statement << ": " << (run ? "" : run.error().ToString());
    if (!run) return rows;
    while ((*run)->Next()) rows.push_back(ResultText((*run)->row()));
    EXPECT_TRUE((*run)->status().ok()) << statement << ": " << (*run)->status().ToString();
    EXPECT_TRUE((*run)->row_errors().empty()) << statement;
    return rows;
  }
  std::vector<std::string> Rows(const std::string& statement) { return Collect(statement, {}); }

  // The statement with each source, which it calls x.
  void Compare(const std::string& before, const std::string& after, bool ordered,
               std::initializer_list<std::string_view> hints = {}) {
    const auto rows = [&](const std::string& source) {
      RunRequest request;
      request.named["documents"] = documents_;
      std::vector<std::string> found = Collect(before + source + after, std::move(request));
      if (!ordered) std::ranges::sort(found);
      return found;
    };
    const std::vector<std::string> expected = rows("$documents AS x");
    EXPECT_EQ(rows("plain AS x"), expected) << before << "plain" << after;
    EXPECT_EQ(rows("indexed AS x"), expected) << before << "indexed" << after;
    // Several hinted indexes are read together where they know of different conditions.
    static constexpr std::string_view kHints[] = {"ia, id", "ia, ib, id", "id, itags", "ia, iarr"};
    const std::string hint(OneOf(kHints));
    EXPECT_EQ(rows("indexed AS x USE INDEX (" + hint + ")"), expected)
        << before << "indexed (" << hint << ")" << after;
    for (const std::string_view each : hints) {
      EXPECT_EQ(rows(fmt::format("indexed AS x {}", each)), expected) << before << each << after;
    }
  }

  // The same, and with several threads. Of the documents only what all have may be in the rows.
  void CompareThreads(const std::string& before, const std::string& after, bool ordered,
                      std::initializer_list<std::string_view> hints = {}) {
    Compare(before, after, ordered, hints);
    const auto rows = [&](const std::string& source, size_t threads) {
      RunRequest request;
      request.max_parallelism = threads;
      return Collect(before + source + after, std::move(request));
    };
    const std::vector<std::string> expected = rows("plain AS x", 1);
    EXPECT_EQ(rows("large AS x", 1), expected) << before << "large" << after;
    EXPECT_EQ(rows("large AS x", kThreads), expected) << before << "large" << after;
  }

  const db::TestDirectory directory_;
  const FakeClock clock_;
  std::mt19937_64 random_{kSeed};
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<QueryEngine> engine_;
  Value documents_;
};

TEST_F(Equivalence, ConditionsSelectTheSameRows) {
  const auto plan = [&](const std::string& rest) {
    return Rows("EXPLAIN SELECT RAW x FROM indexed AS x " + rest)[0];
  };
  ASSERT_THAT(plan("WHERE x.a = 1"), HasSubstr("IndexScan"));
  ASSERT_THAT(plan("WHERE x.a = 1 OR x.c.d = 2"), HasSubstr("UnionScan"));
  ASSERT_THAT(plan("USE INDEX (ia, id) WHERE x.a = 1 AND x.c.d = 2"), HasSubstr("IntersectScan"));
  for (int i = 0; i < kQueries && !HasFailure(); ++i) {
    const std::string condition = RandomCondition(2);
    static constexpr std::string_view kResults[] = {"RAW x", "x.a, x.b", "x.c.d AS d",
                                                    "RAW [x.a, x.tags]"};
    Compare(fmt::format("SELECT {} FROM ", OneOf(kResults)), " WHERE " + condition, false);
  }
}

TEST_F(Equivalence, SortedRowsAreSorted) {
  static constexpr std::string_view kOrders[] = {"x.a",           "x.a DESC", "x.a, x.b DESC",
                                                 "x.a DESC, x.b", "x.b, x.a", "x.c.d DESC, x.a"};
  for (int i = 0; i < kQueries / 4 && !HasFailure(); ++i) {
    // Rows are what they are sorted by, so equal ones may change places.
    CompareThreads("SELECT x.a, x.b, x.c.d FROM ",
                   fmt::format(" WHERE {} ORDER BY {}, x.a, x.b, x.c.d LIMIT {} OFFSET {}",
                               RandomCondition(1), OneOf(kOrders), 1 + Pick(20), Pick(3)),
                   true);
  }
}

TEST_F(Equivalence, GroupsAreTheSame) {
  for (int i = 0; i < kQueries / 4 && !HasFailure(); ++i) {
    static constexpr std::string_view kKeys[] = {"x.a", "x.c.d", "x.b, x.a"};
    const std::string keys(OneOf(kKeys));
    CompareThreads(fmt::format("SELECT {}, COUNT(*) AS n, SUM(x.b) AS s, MIN(x.b) AS m, "
                               "COUNT(DISTINCT x.c.d) AS u FROM ",
                               keys),
                   fmt::format(" WHERE {} GROUP BY {} HAVING COUNT(*) > {}", RandomCondition(1),
                               keys, Pick(3)),
                   false);
  }
}

TEST_F(Equivalence, JoinsAreTheSame) {
  for (int i = 0; i < kQueries / 20 && !HasFailure(); ++i) {
    CompareThreads("SELECT x.a, y.b FROM plain AS y JOIN ",
                   fmt::format(" ON x.a = y.b WHERE {} AND y.a > 3", RandomCondition(0)), false,
                   {"USE NL", "USE HASH (BUILD)", "USE HASH (PROBE)"});
    CompareThreads("SELECT x.a, t FROM ",
                   fmt::format(" UNNEST x.tags AS t WHERE {} AND t > 1", RandomCondition(0)),
                   false);
    CompareThreads("SELECT x.a, t FROM ",
                   fmt::format(" UNNEST x.tags AS t WHERE t IN [{}, {}] AND (t = {} OR t >= {})",
                               RandomLiteral(), RandomLiteral(), RandomLiteral(), RandomLiteral()),
                   false);
  }
}

TEST_F(Equivalence, RowsOfJoinsAreInOrder) {
  static constexpr std::string_view kOrders[] = {"META(x).id{} DESC", "META(x).id{}",
                                                 "x.a, META(x).id{}", "x.a DESC, META(x).id{}"};
  static constexpr std::string_view kRests[] = {"t, k", "t DESC, k DESC", "k DESC, t"};
  static constexpr std::string_view kJoins[] = {
      "UNNEST x.tags AS t LET k = 1", "JOIN plain AS y ON x.a = y.b LET t = y.c.d, k = META(y).id",
      "JOIN plain AS y USE HASH (PROBE) ON x.a = y.b LET t = y.b, k = META(y).id",
      "LEFT JOIN plain AS y ON x.c.d = y.a LET t = y.a, k = META(y).id"};
  for (int i = 0; i < kQueries / 4 && !HasFailure(); ++i) {
    const std::string_view join = OneOf(kJoins);
    const std::string condition = RandomCondition(0);
    const std::string order(OneOf(kOrders));
    const std::string_view rest = OneOf(kRests);
    // What is no key of a scan or an index is sorted.
    const auto rows = [&](std::string_view source, std::string_view sorted) {
      return Rows(
          fmt::format("SELECT META(x).id, x.a, t, k FROM {} AS x {} WHERE {} ORDER BY {}, {}",
                      source, join, condition, fmt::format(fmt::runtime(order), sorted), rest));
    };
    const std::vector<std::string> expected = rows("plain", " || ''");
    EXPECT_EQ(rows("plain", ""), expected) << join << condition << order;
    EXPECT_EQ(rows("indexed", ""), expected) << join << condition << order;
  }
}

TEST_F(Equivalence, AConditionAndItsOppositeAndTheRestAreAll) {
  for (int i = 0; i < kQueries / 4 && !HasFailure(); ++i) {
    const std::string condition = RandomCondition(1);
    const auto count = [&](const std::string& where) {
      return Rows("SELECT RAW META(x).id FROM indexed AS x WHERE " + where).size();
    };
    EXPECT_EQ(count(condition) + count(fmt::format("NOT ({})", condition)) +
                  count(fmt::format("({}) IS NOT VALUED", condition)),
              static_cast<size_t>(kDocuments))
        << condition;
  }
}

}  // namespace
}  // namespace sluice::query
