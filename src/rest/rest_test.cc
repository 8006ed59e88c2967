// What the text files of tests/http can't show: several shards, many clients at once, streams whose
// client is slow or leaves, and the server's phases.
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "http/test_client.h"
#include "rest/test_rest.h"

namespace sluice::rest {
namespace {

using http::RawClient;
using http::ServerOptions;
using http::TestServer;

using testing::HasSubstr;
using testing::Not;

class RestTest : public testing::Test {
 protected:
  explicit RestTest(uint16_t shards = 1) : rest_(shards) {
    server_ = std::make_unique<TestServer>(rest_.NewRouter(), ServerOptions{}, &rest_.filter(),
                                           &rest_.metrics());
    EXPECT_EQ(Call("PUT", "/v1/buckets/shop").status, 201);
  }

  static std::string Text(std::string_view method, std::string_view path, std::string_view body,
                          std::string_view headers = "") {
    return fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n{}\r\n{}",
                       method, path, body.size(), headers, body);
  }
  RawClient::Reply Call(std::string_view method, std::string_view path, std::string_view body = "",
                        std::string_view headers = "") {
    RawClient client(server_->port());
    return client.Exchange(Text(method, path, body, headers));
  }
  // A streamed answer, without the framing of its chunks.
  std::string Stream(std::string_view path, std::string_view headers = "") {
    RawClient client(server_->port());
    client.Send(Text("GET", path, "", headers));
    client.ReadUntil("\r\n\r\n");
    std::string body;
    while (true) {
      const std::string line = client.ReadUntil("\r\n");
      const size_t size = std::stoul("0x0" + line, nullptr, 16);
      body += client.ReadBytes(size);
      client.ReadBytes(2);
      if (size == 0) return body;
    }
  }
  size_t CountOf(std::string_view needle, std::string_view text) {
    size_t count = 0;
    for (size_t at = text.find(needle); at != std::string_view::npos;
         at = text.find(needle, at + 1)) {
      ++count;
    }
    return count;
  }

  TestRest rest_;
  std::unique_ptr<TestServer> server_;
};

class ShardedRestTest : public RestTest {
 protected:
  ShardedRestTest() : RestTest(4) {}
};

TEST_F(RestTest, ReadinessFollowsThePhase) {
  EXPECT_EQ(Call("GET", "/readyz").status, 200);
  rest_.lifecycle().set_phase(Lifecycle::Phase::kStarting);
  EXPECT_THAT(Call("GET", "/readyz").body, HasSubstr("server.starting"));
  rest_.lifecycle().set_phase(Lifecycle::Phase::kDraining);
  EXPECT_EQ(Call("GET", "/readyz").status, 503);
  EXPECT_THAT(Call("GET", "/healthz").body, HasSubstr("server.draining"));
  EXPECT_EQ(Call("GET", "/livez").status, 200);
}

TEST_F(RestTest, CountersAreExactUnderConcurrency) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 100;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      RawClient client(server_->port());
      for (int round = 0; round < kRounds; ++round) {
        const auto reply =
            client.Exchange(Text("POST", "/v1/docs/shop/n/counter", R"({"initial":1})"));
        EXPECT_EQ(reply.status, 200) << reply.body;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Call("GET", "/v1/docs/shop/n").body, std::to_string(kThreads * kRounds));
}

// Also of a document that is too large for the committer's thread: that one is tried again.
TEST_F(RestTest, PatchesAreExactUnderConcurrency) {
  const std::string pad(100'000, 'x');
  for (const std::string& document :
       {std::string(R"({"n":0})"), R"({"pad":")" + pad + R"(","n":0})"}) {
    ASSERT_EQ(Call("PUT", "/v1/docs/shop/p", document).status, 200);
    std::atomic<int> done = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        RawClient client(server_->port());
        for (int round = 0; round < 25; ++round) {
          const auto reply = client.Exchange(Text(
              "PATCH", "/v1/docs/shop/p", R"({"specs":[{"op":"counter","path":"n","delta":1}]})"));
          if (reply.status == 200) {
            ++done;
          } else {
            EXPECT_EQ(reply.status, 409) << reply.body;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(done, 0);
    EXPECT_EQ(Call("GET", "/v1/docs/shop/p?path=n").body,
              fmt::format("[{{\"success\":true,\"value\":{}}}]\n", done.load()));
  }
}

TEST_F(RestTest, ALongScanIsStreamedWhole) {
  constexpr int kDocuments = 3000;
  std::string lines;
  for (int i = 0; i < kDocuments; ++i) {
    lines += fmt::format("{{\"key\":\"k{:05}\",\"value\":\"{}\"}}\n", i, std::string(200, 'v'));
  }
  ASSERT_THAT(Call("POST", "/v1/import/shop", lines).body, HasSubstr("\"imported\":3000"));
  const std::string exported = Stream("/v1/docs/shop", "Accept: application/x-ndjson\r\n");
  EXPECT_EQ(CountOf("\n", exported), kDocuments);
  EXPECT_THAT(exported, HasSubstr("\"key\":\"k00000\""));
  EXPECT_THAT(exported, HasSubstr("\"key\":\"k02999\""));
  const std::string backwards = Stream("/v1/docs/shop?reverse=true&limit=2500");
  EXPECT_EQ(CountOf("\"key\":", backwards), 2500u);
  EXPECT_THAT(backwards, HasSubstr(R"("next":"k00500")"));
}

TEST_F(RestTest, AFeedDeliversWhatIsWrittenWhileItIsOpen) {
  RawClient feed(server_->port());
  feed.Send(Text("GET", "/v1/feed/shop", ""));
  feed.ReadUntil("event: caught_up\ndata: {}\n\n");
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(Call("PUT", fmt::format("/v1/docs/shop/k{}", i), std::to_string(i)).status, 200);
    const std::string event = feed.ReadUntil("}\n\n");
    EXPECT_THAT(event, HasSubstr("event: insert\n"));
    EXPECT_THAT(event, HasSubstr(fmt::format(R"("key":"k{}")", i)));
    EXPECT_THAT(event, HasSubstr(fmt::format(R"("value":{}}})", i)));
  }
}

TEST_F(RestTest, AFeedWhoseCollectionIsDroppedEnds) {
  RawClient feed(server_->port());
  feed.Send(Text("GET", "/v1/feed/shop", ""));
  feed.ReadUntil("event: caught_up\ndata: {}\n\n");
  ASSERT_EQ(Call("DELETE", "/v1/buckets/shop").status, 204);
  const std::string rest = feed.ReadUntil("0\r\n\r\n");
  EXPECT_THAT(rest, HasSubstr("event: error\n"));
  EXPECT_THAT(rest, HasSubstr("feed.keyspace_dropped"));
}

// The client reads nothing: the feed waits for it, then gives everything.
TEST_F(RestTest, ASlowFeedClientMissesNothing) {
  constexpr int kDocuments = 200;
  const std::string body = "\"" + std::string(100'000, 'v') + "\"";
  RawClient feed(server_->port());
  feed.Send(Text("GET", fmt::format("/v1/feed/shop?limit={}", kDocuments), ""));
  feed.ReadUntil("event: caught_up\ndata: {}\n\n");
  RawClient writer(server_->port());
  for (int i = 0; i < kDocuments; ++i) {
    ASSERT_EQ(writer.Exchange(Text("PUT", fmt::format("/v1/docs/shop/k{}", i), body)).status, 200);
  }
  const std::string events = feed.ReadUntil("\r\n0\r\n\r\n");
  EXPECT_EQ(CountOf("event: insert\n", events), kDocuments);
  EXPECT_GT(events.size(), body.size() * kDocuments);
}

TEST_F(RestTest, AClientThatLeavesAFeedFreesIt) {
  for (int i = 0; i < 20; ++i) {
    RawClient feed(server_->port());
    feed.Send(Text("GET", "/v1/feed/shop", ""));
    feed.ReadUntil("event: ready\n");
  }
  server_->AwaitNoConnections();
  EXPECT_EQ(Call("PUT", "/v1/docs/shop/a", "1").status, 200);
}

TEST_F(ShardedRestTest, ScansAreInKeyOrderAcrossShards) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(Call("PUT", fmt::format("/v1/docs/shop/k{:02}", i), "1").status, 200);
  }
  const std::string answer = Stream("/v1/docs/shop?keys_only=true&limit=10&from=k05");
  size_t at = 0;
  for (int i = 5; i < 15; ++i) {
    const size_t found = answer.find(fmt::format("\"k{:02}\"", i), at);
    ASSERT_NE(found, std::string::npos) << answer;
    at = found;
  }
  EXPECT_THAT(answer, HasSubstr(R"("next":"k15")"));
}

TEST_F(ShardedRestTest, AFeedContinuesInEveryShard) {
  const std::string start = Stream("/v1/feed/shop?until=caught_up");
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(Call("PUT", fmt::format("/v1/docs/shop/k{:02}", i), "1").status, 200);
  }
  std::string since = start.substr(4, start.find('\n') - 4);
  std::set<std::string> seen;
  for (int i = 0; i < 10; ++i) {
    const std::string events = Stream(fmt::format("/v1/feed/shop?limit=5&since={}", since));
    ASSERT_EQ(CountOf("event: insert\n", events), 5u) << events;
    for (size_t at = events.find(R"("key":")"); at != std::string::npos;
         at = events.find(R"("key":")", at + 1)) {
      EXPECT_TRUE(seen.insert(events.substr(at + 7, 3)).second);
    }
    const size_t last = events.rfind("id: ") + 4;
    since = events.substr(last, events.find('\n', last) - last);
  }
  EXPECT_EQ(seen.size(), 50u);
}

// Twenty writes, which are in all shards; the last one with this condition.
std::string WritesToAllShards(std::string_view condition = "") {
  std::string writes;
  for (int i = 0; i < 20; ++i) {
    if (i > 0) writes += ',';
    writes += fmt::format(R"({{"keyspace":"shop","key":"k{}","value":{}{}}})", i, i,
                          i == 19 ? condition : "");
  }
  return "\"writes\":[" + writes + "]}";
}

TEST_F(ShardedRestTest, AnAtomicBatchOfAllShardsIsAllOrNone) {
  const auto refused = Call("POST", "/v1/batch/put", "{" + WritesToAllShards(R"(,"if":"present")"));
  EXPECT_EQ(refused.status, 404);
  EXPECT_THAT(refused.body, HasSubstr(R"("write":"19")"));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Call("GET", fmt::format("/v1/docs/shop/k{}", i)).status, 404);
  }
  const auto done = Call("POST", "/v1/batch/put", "{" + WritesToAllShards());
  EXPECT_EQ(done.status, 200) << done.body;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Call("GET", fmt::format("/v1/docs/shop/k{}", i)).body, std::to_string(i));
  }
}

TEST_F(ShardedRestTest, ABatchThatIsNotAtomicWritesToAllShards) {
  const auto done = Call("POST", "/v1/batch/put", R"({"atomic":false,)" + WritesToAllShards());
  EXPECT_EQ(done.status, 200);
  EXPECT_THAT(done.body, Not(HasSubstr("error")));
  EXPECT_EQ(Call("GET", "/v1/docs/shop/k19").body, "19");
}

TEST_F(RestTest, DocumentsExpireByTheDatabasesClock) {
  ASSERT_EQ(Call("PUT", "/v1/docs/shop/a?expiry=10s", "1").status, 200);
  EXPECT_EQ(Call("GET", "/v1/docs/shop/a").status, 200);
  rest_.clock().AdvanceMs(10'000);
  EXPECT_EQ(Call("GET", "/v1/docs/shop/a").status, 404);
  EXPECT_EQ(Call("POST", "/v1/admin/expire").body, "{\"expired\":1}\n");
}

TEST_F(RestTest, ABackupIsADatabase) {
  ASSERT_EQ(Call("PUT", "/v1/docs/shop/a", "1").status, 200);
  const std::string target =
      (std::filesystem::temp_directory_path() / ("sluice_backup_" + NewUuid())).string();
  const std::string body = fmt::format(R"({{"directory":"{}"}})", target);
  EXPECT_EQ(Call("POST", "/v1/backup", body).status, 201);
  EXPECT_EQ(Call("POST", "/v1/backup", body).status, 409);
  EXPECT_EQ(Call("POST", "/v1/backup", R"({"directory":"relative"})").status, 400);
  std::filesystem::remove_all(target);
}

TEST_F(RestTest, AForeignHostIsNotTrusted) {
  RawClient client(server_->port());
  EXPECT_EQ(client.Get("/v1/buckets").status, 403);  // its Host is "t"
  EXPECT_EQ(Call("GET", "/v1/buckets", "", "Origin: http://localhost\r\n").status, 200);
  EXPECT_EQ(Call("GET", "/v1/buckets", "", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(Call("GET", "/v1/buckets", "", "Origin: null\r\n").status, 403);
}

// A step that takes long holds the connection that needs it, and no other one of its thread.
TEST_F(RestTest, ScriptsOfMigrationsHoldNobodyElse) {
  ASSERT_EQ(Call("PUT", "/v1/docs/shop/u:1", R"({"_schema":"1"})").status, 200);
  ASSERT_EQ(Call("PUT", "/v1/types/u",
                 R"({"type":"u","keyspace":"shop","match":{"key":"u:{id}"},)"
                 R"("properties":{"schema":"_schema"},"schema":"2","migrations":[{"file":"m.js",)"
                 R"("code":"module.exports = {'1 -> 2'(doc) { let n = 0; )"
                 R"(for (let i = 0; i < 5e8; ++i) n += i % 7; return {_schema: '2', n}; }};"}]})")
                .status,
            201);
  const TestServer one(rest_.NewRouter(), net::ServerOptions{.io_threads = 1}, &rest_.filter());
  const auto overtakes = [&](std::string_view slow, std::string_view body) {
    RawClient waits(one.port());
    RawClient passes(one.port());
    waits.Send(Text(body.empty() ? "GET" : "PUT", slow, body));
    // After this answer the thread has seen both requests: it sees them in the order of arrival.
    EXPECT_EQ(passes.Exchange(Text("GET", "/livez", "")).status, 200);
    EXPECT_EQ(passes.Exchange(Text("GET", "/livez", "")).status, 200);
    char byte = 0;
    const bool answered = ::recv(waits.fd(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 1;
    waits.ReadUntil("\r\n\r\n");
    return !answered;
  };
  // On a busy machine the step may be over first, by chance; if it held the thread, always.
  const auto sometimes = [&](std::string_view path, std::string_view body) {
    for (int attempt = 0; attempt < 10; ++attempt) {
      if (overtakes(path, body)) return true;
    }
    return false;
  };
  EXPECT_TRUE(sometimes("/v1/docs/shop/u:1", ""));
  EXPECT_TRUE(sometimes("/v1/docs/shop/u:2", R"({"_schema":"1"})"));
}

}  // namespace
}  // namespace sluice::rest
