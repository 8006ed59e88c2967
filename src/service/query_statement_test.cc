// Statements of clients, without a protocol.
#include "service/query_statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "db/test_database.h"
#include "json/print.h"
#include "net/test_client.h"
#include "net/test_exchange.h"
#include "query/error.h"
#include "service/test_principal.h"

namespace sluice::service {
namespace {

using query::QueryCode;

// Rows one below the other; an error by its number.
class LinesAnswer final : public QueryAnswer {
 public:
  explicit LinesAnswer(const QueryParameters& parameters) : QueryAnswer(NewUuid(), parameters) {}

  void Head(const json::Value&, std::string*) override { has_head_ = true; }
  void Row(const json::Value& row, std::string* out) override {
    ++rows_;
    *out += json::ToText(row) + "\n";
  }
  void Tail(const QueryOutcome& outcome, std::string* out) override {
    for (const Status& error : outcome.errors) {
      *out += fmt::format("error {}\n", static_cast<int>(query::CodeOf(error)));
    }
    *out += std::string(QueryStatusText(outcome, has_head_)) + "\n";
  }
};

class QueryStatementTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    engine_.emplace(*database_, query::EngineOptions{});
    service_.emplace(*engine_, QueryServiceOptions{.threads = 2, .max_requests = 2}, clock_);
  }
  void TearDown() override {
    service_.reset();
    engine_.reset();
  }

  Result<std::shared_ptr<QueryStatement>> Admit(
      QueryParameters parameters, std::shared_ptr<const auth::Principal> who = nullptr) {
    if (who == nullptr) who = Somebody("root", {"admin"});
    auto answer = std::make_unique<LinesAnswer>(parameters);
    return QueryStatement::Admit(*service_, {.who = std::move(who)}, std::move(parameters),
                                 std::move(answer));
  }
  Result<std::shared_ptr<QueryStatement>> Admit(std::string text) {
    QueryParameters parameters;
    parameters.statement = std::move(text);
    return Admit(std::move(parameters));
  }
  // All that a statement answers.
  std::string Run(QueryParameters parameters, std::shared_ptr<const auth::Principal> who = nullptr,
                  std::string* txid = nullptr) {
    const auto statement = Admit(std::move(parameters), std::move(who));
    if (!statement) return statement.error().id();
    std::string text;
    while (true) {
      const Result<QueryStatement::Chunk> chunk =
          exchange_.Await(QueryStatement::Next(*statement, exchange_));
      if (!chunk) return chunk.error().id();
      text += chunk->text;
      if (!chunk->last) continue;
      if (txid != nullptr) *txid = (*statement)->txid();
      return text;
    }
  }
  std::string Run(std::string text, std::string* txid) {
    QueryParameters parameters;
    parameters.statement = std::move(text);
    parameters.txid = *txid;
    return Run(std::move(parameters), nullptr, txid);
  }
  std::string Run(std::string text) {
    std::string none;
    return Run(std::move(text), &none);
  }

  net::TestExchange exchange_;
  std::optional<query::QueryEngine> engine_;
  std::optional<QueryService> service_;
};

TEST_F(QueryStatementTest, AnswersRowsThenTheEnd) {
  EXPECT_EQ(Run("SELECT RAW a FROM [1, 2, 3] AS a WHERE a > 1"), "2\n3\nsuccess\n");
  EXPECT_EQ(service_->active.size(), 0u);
}

TEST_F(QueryStatementTest, SaysWhyItDidNotRun) {
  const auto statement = Admit("SELEC 1");
  ASSERT_TRUE(statement);
  const auto chunk = exchange_.Await(QueryStatement::Next(*statement, exchange_));
  EXPECT_TRUE(chunk->last);
  EXPECT_EQ(query::CodeOf(chunk->refused), QueryCode::kSyntax);
  EXPECT_EQ(chunk->text, "error 3000\nfatal\n");
  ASSERT_EQ(service_->completed.List().size(), 1u);
  EXPECT_EQ(service_->completed.List()[0].statement, "SELEC 1");
}

TEST_F(QueryStatementTest, AnErrorAfterTheFirstRowRefusesNothing) {
  const auto statement = Admit("SELECT RAW 1 FROM [1, 2] AS a WHERE a = 1 OR ABORT('no')");
  std::string text;
  Status refused;
  for (bool last = false; !last;) {
    const auto chunk = exchange_.Await(QueryStatement::Next(*statement, exchange_));
    last = chunk->last;
    text += chunk->text;
    refused = chunk->refused;
  }
  EXPECT_TRUE(refused.ok());
  EXPECT_EQ(text, "1\nerror 5011\nerrors\n");
}

TEST_F(QueryStatementTest, AsksWhoMay) {
  QueryParameters parameters;
  parameters.statement = "UPSERT INTO b (KEY, VALUE) VALUES ('k', 1)";
  EXPECT_EQ(Run(parameters, Somebody("ann", {"query:b", "reader:b"})), "error 13014\nfatal\n");
  EXPECT_EQ(Get("k"), "-");
  EXPECT_EQ(Run(parameters, Somebody("ann", {"query:b", "writer:b"})), "success\n");
  EXPECT_EQ(Get("k"), "1");
}

TEST_F(QueryStatementTest, ReadOnlyRequestsDoNotWrite) {
  QueryParameters parameters;
  parameters.statement = "UPSERT INTO b (KEY, VALUE) VALUES ('k', 1)";
  parameters.read_only = true;
  EXPECT_EQ(Run(parameters), "error 1000\nfatal\n");
  EXPECT_EQ(Get("k"), "-");
}

TEST_F(QueryStatementTest, ATransactionGoesThroughStatements) {
  std::string txid;
  Run("BEGIN WORK", &txid);
  ASSERT_NE(txid, "");
  EXPECT_EQ(Run("UPSERT INTO b (KEY, VALUE) VALUES ('k', 1)", &txid), "success\n");
  EXPECT_EQ(Get("k"), "-");
  Run("COMMIT", &txid);
  EXPECT_EQ(txid, "");
  EXPECT_EQ(Get("k"), "1");
}

TEST_F(QueryStatementTest, AnImplicitTransactionIsAllOrNothing) {
  QueryParameters parameters;
  parameters.statement = "UPSERT INTO b (KEY, VALUE) VALUES ('k', 1), VALUES ('l', 2)";
  parameters.implicit_transaction = true;
  EXPECT_EQ(Run(parameters), "success\n");
  parameters.statement = "INSERT INTO b (KEY, VALUE) VALUES ('m', 1), VALUES ('k', 2)";
  EXPECT_THAT(Run(parameters), testing::HasSubstr("error"));
  EXPECT_EQ(Get("m"), "-");
}

TEST_F(QueryStatementTest, NoMoreRunThanMay) {
  const auto first = Admit("SELECT 1");
  const auto second = Admit("SELECT 1");
  EXPECT_TRUE(first && second);
  const auto third = Admit("SELECT 1");
  ASSERT_FALSE(third);
  EXPECT_EQ(query::CodeOf(third.error()), QueryCode::kTooManyRequests);
}

TEST_F(QueryStatementTest, AClientThatLeavesEndsIt) {
  const auto statement = Admit(
      "SELECT RAW x FROM ARRAY_RANGE(0, 100000) AS x UNNEST ARRAY_RANGE(0, 100000) AS y "
      "WHERE x + y < 0");
  const auto chunk = exchange_.AwaitAfterLeaving(QueryStatement::Next(*statement, exchange_));
  EXPECT_EQ(chunk.error().id(), "http.cancelled");
}

TEST_F(QueryStatementTest, EndsWhenItsTimeIsOver) {
  QueryParameters parameters;
  parameters.statement =
      "SELECT RAW x FROM ARRAY_RANGE(0, 100000) AS x UNNEST ARRAY_RANGE(0, 100000) AS y "
      "WHERE x + y < 0";
  parameters.timeout_ms = 50;
  const net::PassingTime time(&clock_);
  EXPECT_EQ(Run(parameters), "error 1080\ntimeout\n");
}

TEST(GoDurationTest, IsWhatGoPrints) {
  EXPECT_EQ(GoDuration(0), "0s");
  EXPECT_EQ(GoDuration(999), "999ns");
  EXPECT_EQ(GoDuration(1500), "1.5µs");
  EXPECT_EQ(GoDuration(12'034'000), "12.034ms");
  EXPECT_EQ(GoDuration(2'000'000'000), "2s");
  EXPECT_EQ(GoDuration(62'500'000'000), "1m2.5s");
  EXPECT_EQ(GoDuration(3'600'000'000'000), "1h0m0s");
}

TEST(QueryParametersTest, AreFoundInAnyCase) {
  QueryParameters parameters;
  EXPECT_TRUE(
      ReadQueryParameter("TimeOut", json::Value("2s"), ParameterForm::kForm, &parameters).ok());
  EXPECT_EQ(parameters.timeout_ms, 2000u);
  EXPECT_TRUE(ReadQueryParameter("$a", json::Value(7), ParameterForm::kJson, &parameters).ok());
  EXPECT_EQ(parameters.named["a"].AsInt(), 7);
  EXPECT_EQ(query::CodeOf(ReadQueryParameter("tineout", json::Value("2s"), ParameterForm::kForm,
                                             &parameters)),
            QueryCode::kUnknownParameter);
  EXPECT_EQ(query::CodeOf(CheckStatement(parameters)), QueryCode::kMissingStatement);
}

}  // namespace
}  // namespace sluice::service
