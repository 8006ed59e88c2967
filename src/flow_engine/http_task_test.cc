#include "flow_engine/http_task.h"

#include <future>
#include <latch>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"
#include "flow_engine/answer_pipe.h"
#include "function/curl/test_server.h"
#include "json/parse.h"
#include "json/print.h"
#include "query/engine.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpTaskTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions());
    services_.emplace(function::Services{
        *database_, *engine_, clock_,
        std::make_shared<function::AddressRules>(function::PrivateAddresses::kAllowed)});
  }
  void TearDown() override { engine_.reset(); }

  static std::string Response(std::string_view head, std::string_view body) {
    return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", head, body.size(), body);
  }
  // Status, headers and body of the answer.
  std::string Run(const TaskMaker& maker, std::string_view body, std::string_view headers = "{}",
                  uint64_t timeout_ms = 30'000) {
    const Value input_headers = *json::Parse(headers);
    const Value input_body = *json::Parse(body);
    const TaskOutput output =
        (*maker())->Run({.headers = input_headers, .body = input_body, .timeout_ms = timeout_ms});
    const std::string shown = output.body.is_bytes() ? "bytes " + std::string(output.body.AsBytes())
                                                     : json::ToText(output.body);
    return fmt::format("{} {} {}", output.status, json::ToText(output.headers), shown);
  }

  // What a client gets of a relay's answer that is passed on, and how it ends. It leaves when it
  // has taken `most` bytes.
  struct Piped {
    int status = 0;
    size_t bytes = 0;
    std::string end;
  };
  Piped TakeRelayed(const TaskMaker& maker, size_t most) {
    std::promise<int> head;
    const auto pipe = std::make_shared<AnswerPipe>(
        [&](const TaskOutput& output) { head.set_value(output.status); });
    std::thread relay([&] {
      StreamScope streams;
      streams.set_pipe(pipe);
      const Value body = *json::Parse(R"({"method":"GET","uri":"/"})");
      const TaskOutput output =
          (*maker())->Run({.headers = Value::EmptyObject(), .body = body, .streams = &streams});
      EXPECT_EQ(output.status, 200);
    });
    Piped piped{.status = head.get_future().get()};
    while (piped.bytes < most && piped.end.empty()) {
      std::promise<Result<std::string>> taken;
      pipe->Take([&](Result<std::string> piece) { taken.set_value(std::move(piece)); });
      const Result<std::string> piece = taken.get_future().get();
      if (piece) piped.bytes += piece->size();
      if (!piece) piped.end = piece.error().id();
      if (piece && piece->empty()) piped.end = "end";
    }
    pipe->Leave();
    relay.join();
    return piped;
  }

  const SystemClock clock_;
  std::unique_ptr<query::QueryEngine> engine_;
  std::optional<function::Services> services_;
};

TEST_F(HttpTaskTest, ATargetGetsTheInputAsItsBody) {
  function::TestServer server([](const std::string&) {
    return Response("201 Created\r\nContent-Type: application/json\r\nX-Seen: a\r\nX-Seen: b",
                    R"({"ok":true})");
  });
  const TaskMaker maker =
      MakeHttpTask(*services_, {.url = server.url() + "/orders/{id}", .headers = {{"X-Key", "k"}}});
  EXPECT_EQ(Run(maker, R"({"id":"a b/c","n":1})", R"({"x-trace":"t"})"),
            R"(201 {"content-type":"application/json","x-seen":"a, b"} {"ok":true})");
  EXPECT_THAT(server.last(), StartsWith("POST /orders/a%20b%2Fc HTTP/1.1\r\n"));
  EXPECT_THAT(server.last(), HasSubstr("X-Key: k\r\n"));
  EXPECT_THAT(server.last(), HasSubstr("x-trace: t\r\n"));
  EXPECT_THAT(server.last(), HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(server.last(), testing::EndsWith(R"({"n":1})"));
  EXPECT_EQ(Run(maker, R"({"n":1})"),
            "400 {} \"the url needs 'id', which the input does not have\"");
}

TEST_F(HttpTaskTest, ARequestIsWrittenAsInEventScript) {
  function::TestServer server(
      [](const std::string&) { return Response("200 OK\r\nContent-Type: text/plain", "hello"); });
  const TaskMaker maker = MakeHttpRequestTask(*services_);
  const std::string input = fmt::format(
      R"({{"host": "{}", "url": "/find", "parameters": {{"query": {{"hello": "a b"}}}}, "query": {{"n": 1}},
           "headers": {{"authorization": "Bearer x\r\n"}}, "cookies": {{"a": 1, "b": "two"}}}})",
      server.url());
  EXPECT_THAT(Run(maker, input), HasSubstr("\"hello\""));
  EXPECT_THAT(server.last(), StartsWith("GET /find?n=1&hello=a%20b HTTP/1.1\r\n"));
  EXPECT_THAT(server.last(), HasSubstr("authorization: Bearer x\r\n"));
  EXPECT_THAT(server.last(), HasSubstr("Cookie: a=1; b=two\r\n"));
  EXPECT_THAT(Run(maker, R"({"url": "http://x", "headers": {"a": "b\nc: d"}})"),
              HasSubstr("400 {} \"'a' is not a header"));
  EXPECT_THAT(Run(maker, R"({"url": "http://x", "parameters": {"path": {}}})"),
              HasSubstr("'parameters.path' is unknown"));
}

TEST_F(HttpTaskTest, GetSendsTheInputAsQuery) {
  function::TestServer server(
      [](const std::string&) { return Response("200 OK\r\nContent-Type: text/plain", "hello"); });
  const TaskMaker maker =
      MakeHttpTask(*services_, {.url = server.url() + "/find?a=1", .method = "GET"});
  EXPECT_THAT(Run(maker, R"({"q":"x&y","n":[1,2]})"), HasSubstr("\"hello\""));
  EXPECT_THAT(server.last(), StartsWith("GET /find?a=1&q=x%26y&n=1&n=2 HTTP/1.1\r\n"));
}

TEST_F(HttpTaskTest, AFailureIsTheTasksFailure) {
  std::latch timed_out(1);
  function::TestServer server([&](const std::string& request) {
    if (request.starts_with("GET /slow")) timed_out.wait();
    return Response("418 Teapot\r\nContent-Type: text/plain", "no coffee");
  });
  const TaskMaker maker = MakeHttpRequestTask(*services_);
  const auto at = [&](std::string_view path) {
    return fmt::format(R"({{"host":"{}","url":"{}"}})", server.url(), path);
  };
  EXPECT_EQ(Run(maker, at("/pot")), R"(418 {"content-type":"text/plain"} "no coffee")");
  EXPECT_THAT(Run(maker, at("/slow"), "{}", 50), StartsWith("408 {}"));
  timed_out.count_down();
  EXPECT_THAT(Run(maker, R"({"url":"http://127.0.0.1:1/"})"), StartsWith("503 {}"));
}

TEST_F(HttpTaskTest, ARequestIsWhatTheInputSays) {
  function::TestServer server([](const std::string&) {
    return Response("200 OK\r\nContent-Type: application/octet-stream", "\x01");
  });
  const TaskMaker maker = MakeHttpRequestTask(*services_);
  EXPECT_EQ(Run(maker, fmt::format(R"({{"method":"PATCH","url":"{}/a?x=1","query":{{"y":"2"}},
                                       "headers":{{"content-type":"text/csv","host":"evil"}},
                                       "body":"1;2"}})",
                                   server.url())),
            "200 {\"content-type\":\"application/octet-stream\"} bytes \x01");
  EXPECT_THAT(server.last(), StartsWith("PATCH /a?x=1&y=2 HTTP/1.1\r\n"));
  EXPECT_THAT(server.last(), HasSubstr("content-type: text/csv\r\n"));
  EXPECT_THAT(server.last(), Not(HasSubstr("evil")));
  EXPECT_THAT(server.last(), testing::EndsWith("1;2"));
}

TEST_F(HttpTaskTest, PrivateAddressesAreRefused) {
  services_->addresses =
      std::make_shared<function::AddressRules>(function::PrivateAddresses::kRefused);
  EXPECT_THAT(Run(MakeHttpRequestTask(*services_), R"({"url":"http://127.0.0.1:1/"})"),
              StartsWith("403 {}"));
}

TEST_F(HttpTaskTest, ARelaySendsWhatCame) {
  function::TestServer server([](const std::string&) {
    return Response("302 Found\r\nLocation: /other\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2", "");
  });
  const TaskMaker maker = MakeRelayTask(*services_, 0, server.url(), Certificates::kChecked);
  EXPECT_EQ(Run(maker, R"({"method":"POST","uri":"/v2/x","query_string":"?q=1&flag&q=%2f",
                           "header":{"accept":"*/*","content-type":"text/plain"},
                           "cookie":{"s":"t"},"body":"raw"})"),
            R"(302 {"location":"/other","set-cookie":["a=1","b=2"]} bytes )");
  EXPECT_THAT(server.last(), StartsWith("POST /v2/x?q=1&flag&q=%2f HTTP/1.1\r\n"));
  EXPECT_THAT(server.last(), HasSubstr("Cookie: s=t\r\n"));
  EXPECT_THAT(server.last(), testing::EndsWith("raw"));
}

TEST_F(HttpTaskTest, ALargeAnswerOfARelayGoesToItsPipe) {
  constexpr size_t kSize = 8 << 20;
  const std::string body(kSize, 'x');
  std::atomic<size_t> declared = kSize;
  function::TestServer server([&](const std::string&) {
    return fmt::format("HTTP/1.1 203 Yes\r\nContent-Length: {}\r\n\r\n{}", declared.load(), body);
  });
  const TaskMaker maker = MakeRelayTask(*services_, 0, server.url(), Certificates::kChecked);
  const Piped whole = TakeRelayed(maker, SIZE_MAX);
  EXPECT_EQ(whole.status, 203);
  EXPECT_EQ(whole.bytes, kSize);
  EXPECT_EQ(whole.end, "end");
  // The client leaves.
  const Piped part = TakeRelayed(maker, 1);
  EXPECT_LT(part.bytes, kSize);
  EXPECT_EQ(part.end, "");
  // The target leaves.
  declared = kSize + 1;
  const Piped broken = TakeRelayed(maker, SIZE_MAX);
  EXPECT_EQ(broken.bytes, kSize);
  EXPECT_EQ(broken.end, "curl.failed");
}

}  // namespace
}  // namespace sluice::flow_engine
