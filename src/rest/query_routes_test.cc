// What the text files of tests/http can't show: rows that leave before the last is read, statements
// that are cancelled, clients that leave, too many statements at once.
#include "rest/query_routes.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/test_client.h"
#include "rest/test_rest.h"

namespace sluice::rest {
namespace {

using http::RawClient;
using http::ServerOptions;
using http::TestServer;
using service::QueryService;

using testing::HasSubstr;

// The first row is there at once, the second one takes for ever.
constexpr std::string_view kOneRowThenForEver =
    "SELECT RAW a FROM [1, 2] AS a WHERE a = 1 OR EXISTS (SELECT 1 FROM ARRAY_RANGE(0, 100000) AS "
    "x "
    "UNNEST ARRAY_RANGE(0, 100000) AS y WHERE x + y < a - 10)";

class QueryServiceTest : public testing::Test {
 protected:
  explicit QueryServiceTest(size_t max_requests = 2)
      : engine_(rest_.database(), {}),
        service_(engine_, {.threads = 2, .max_requests = max_requests}, rest_.clock()) {
    Router router = rest_.NewRouter();
    EXPECT_TRUE(AddQueryRoutes(router, service_).ok());
    server_ = std::make_unique<TestServer>(std::move(router), ServerOptions{}, &rest_.filter());
  }

  static std::string Text(std::string_view method, std::string_view path,
                          std::string_view body = "") {
    return fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", method,
                       path, body.size(), body);
  }
  static std::string Statement(std::string_view text) {
    return Text("POST", "/query/service", fmt::format(R"({{"statement":"{}"}})", text));
  }
  RawClient::Reply Call(std::string_view request) {
    RawClient client(server_->port());
    return client.Exchange(request);
  }
  // Waits until that many statements run: the server answers others meanwhile.
  bool Reaches(size_t running) {
    RawClient client(server_->port());
    for (int i = 0; i < 100'000 && service_.active.size() != running; ++i) {
      EXPECT_EQ(client.Exchange(Text("GET", "/livez")).status, 200);
    }
    return service_.active.size() == running;
  }

  TestRest rest_;
  query::QueryEngine engine_;
  QueryService service_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(QueryServiceTest, TheFirstRowLeavesBeforeTheLastIsReadAndAStatementCanBeCancelled) {
  RawClient client(server_->port());
  client.Send(Statement(kOneRowThenForEver));
  EXPECT_THAT(client.ReadUntil("\"results\": [\n1"), HasSubstr("200 OK"));
  ASSERT_EQ(service_.active.size(), 1u);
  const std::string id = service_.active.List()[0]->id;
  EXPECT_THAT(Call(Text("GET", "/admin/active_requests")).body,
              testing::AllOf(HasSubstr(id), HasSubstr(R"("resultCount":1,"state":"running")")));
  EXPECT_EQ(Call(Text("DELETE", "/admin/active_requests/" + id)).status, 204);
  EXPECT_THAT(client.ReadUntil("\"status\": \"stopped\""), HasSubstr("\"code\":1190"));
  EXPECT_TRUE(Reaches(0));
}

TEST_F(QueryServiceTest, AClientThatLeavesCancelsItsStatement) {
  {
    RawClient client(server_->port());
    client.Send(Statement(kOneRowThenForEver));
    client.ReadUntil("\"results\": [\n1");
    EXPECT_EQ(service_.active.size(), 1u);
  }
  EXPECT_TRUE(Reaches(0));
}

TEST_F(QueryServiceTest, AClientThatLeavesBeforeTheFirstRowCancelsItsStatement) {
  RawClient client(server_->port());
  client.Send(Statement(
      "SELECT RAW x FROM ARRAY_RANGE(0, 100000) AS x UNNEST ARRAY_RANGE(0, 100000) AS y WHERE x + "
      "y < 0"));
  ASSERT_TRUE(Reaches(1));
  client.Close();
  EXPECT_TRUE(Reaches(0));
}

TEST_F(QueryServiceTest, TooManyStatementsAreRefused) {
  RawClient first(server_->port());
  RawClient second(server_->port());
  first.Send(Statement(kOneRowThenForEver));
  second.Send(Statement(kOneRowThenForEver));
  ASSERT_TRUE(Reaches(2));
  const RawClient::Reply refused = Call(Statement("SELECT 1"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, testing::AllOf(HasSubstr("1191"), HasSubstr("\"retry\":true")));
  first.Close();
  ASSERT_TRUE(Reaches(1));
  EXPECT_EQ(Call(Statement("SELECT 1 FROM [] AS a")).status, 200);
}

class ManyStatements : public QueryServiceTest {
 protected:
  ManyStatements() : QueryServiceTest(16) {}
};

// Long statements give way: each that takes long leaves its thread's place to another, and more of
// them than there are threads wait in the middle.
TEST_F(ManyStatements, ShortOnesAreAnsweredWhileLongOnesRun) {
  constexpr size_t kLong = 7;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (size_t i = 0; i < kLong; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->Send(Statement(
        "SELECT COUNT(*) FROM ARRAY_RANGE(0, 1000000) AS x UNNEST ARRAY_RANGE(0, 1000000) AS y"));
    ASSERT_TRUE(Reaches(i + 1));
    // Time goes on until it has been noticed that those that have a thread take long.
    rest_.clock().AdvanceMs(1000);
    EXPECT_EQ(Call(Statement("SELECT RAW 1 + 1")).status, 200);
    ASSERT_TRUE(Reaches(i + 1)) << "the short one ends";
  }
  for (const auto& active : service_.active.List()) {
    EXPECT_EQ(Call(Text("DELETE", "/admin/active_requests/" + active->id)).status, 204);
  }
  for (const auto& client : clients) {
    EXPECT_THAT(client->ReadUntil("\"status\": \"stopped\""), HasSubstr("\"code\":1190"));
  }
  EXPECT_TRUE(Reaches(0));
}

// A transaction's statement that is cancelled is undone, and the transaction can be used again.
TEST_F(QueryServiceTest, ALeavingClientReleasesItsTransaction) {
  const std::string id = *service_.transactions.Begin("local", {});
  {
    RawClient client(server_->port());
    client.Send(Text("POST", "/query/service",
                     fmt::format(R"({{"statement":"{}","txid":"{}"}})", kOneRowThenForEver, id)));
    client.ReadUntil("\"results\": [\n1");
    EXPECT_FALSE(service_.transactions.Use(id, "local"));
  }
  ASSERT_TRUE(Reaches(0));
  EXPECT_TRUE(service_.transactions.Use(id, "local"));
}

}  // namespace
}  // namespace sluice::rest
