#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/test_client.h"

namespace sluice::http {
namespace {

using testing::HasSubstr;

Router EchoRouter() {
  Router router;
  const auto add = [&](Method method, std::string path, Handler handler) {
    const Status added = router.Add({.method = method,
                                     .path = std::move(path),
                                     .summary = "test",
                                     .tag = "test",
                                     .handler = std::move(handler)});
    EXPECT_TRUE(added.ok()) << added.ToString();
  };
  add(Method::kGet, "/ok", [](Request&, Response& response) { response.Text(200, "ok"); });
  add(Method::kPost, "/echo", [](Request& request, Response& response) {
    response.Body(200, "application/octet-stream", request.TakeBody());
  });
  add(Method::kGet, "/error/{id}", [](Request& request, Response& response) {
    response.Error(Error(Code::kNotFound, "thing.not_found", "no \"{}\"", request.Param("id"))
                       .At({.file = "a.yaml", .line = 3, .column = 7})
                       .With("thing", std::string(request.Param("id"))));
  });
  add(Method::kGet, "/throw",
      [](Request&, Response&) { throw std::runtime_error("secret detail"); });
  add(Method::kGet, "/nothing", [](Request&, Response& response) { response.NoContent(); });
  add(Method::kGet, "/large", [](Request&, Response& response) {
    response.Body(200, "text/plain", std::string(5 << 20, 'x'));
  });
  return router;
}

TEST(Server, AnswersAndKeepsAlive) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const auto reply = client.Get("/ok");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "ok");
    EXPECT_EQ(reply.Header("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(reply.Header("Connection"), "");
    EXPECT_EQ(reply.Header("X-Request-Id").size(), 16u);
    EXPECT_EQ(reply.Header("Date"), "Tue, 14 Nov 2023 22:13:20 GMT");
  }
  const auto named = client.Exchange("GET /ok HTTP/1.1\r\nHost: t\r\nX-Request-Id: my-1\r\n\r\n");
  EXPECT_EQ(named.Header("X-Request-Id"), "my-1");
  EXPECT_EQ(client.Get("/nothing").status, 204);
  EXPECT_EQ(client.Get("/ok").body, "ok");
}

TEST(Server, Pipelining) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    requests += fmt::format("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 6\r\n\r\nbody{:02}",
                            i % 100);
    if (i % 10 == 0) requests += "GET /large HTTP/1.1\r\nHost: t\r\n\r\n";
  }
  std::thread sender([&] { EXPECT_TRUE(client.Send(requests)); });
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(client.ReadReply().body, fmt::format("body{:02}", i % 100));
    if (i % 10 != 0) continue;
    EXPECT_EQ(client.ReadReply().body.size(), 5u << 20);
  }
  sender.join();
}

TEST(Server, PipelinedThenHalfClosed) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  client.Send("GET /ok HTTP/1.1\r\nHost: t\r\n\r\nGET /nothing HTTP/1.1\r\nHost: t\r\n\r\nGET /o");
  client.EndSending();
  EXPECT_EQ(client.ReadReply().status, 200);
  EXPECT_EQ(client.ReadReply().status, 204);
  EXPECT_EQ(client.ReadAll(), "");
}

TEST(Server, ErrorShape) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  auto reply = client.Get("/error/a%22b");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body, fmt::format(R"({{"error":{{"id":"thing.not_found","message":"no \"a\"b\"",)"
                                    R"("request_id":"{}","file":"a.yaml","line":3,"column":7,)"
                                    R"("thing":"a\"b"}}}})"
                                    "\n",
                                    reply.Header("X-Request-Id")));
  reply = client.Get("/nowhere");
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(reply.body, HasSubstr(R"("id":"http.no_route")"));
  reply = client.Exchange("DELETE /ok HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.Header("Allow"), "GET, HEAD");
  EXPECT_THAT(reply.body, HasSubstr(R"("id":"http.method_not_allowed")"));
  reply = client.Exchange("OPTIONS /ok HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.Header("Allow"), "GET, HEAD");
  reply = client.Get("/error/%zz");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr(R"("id":"http.bad_target")"));
  reply = client.Get("/throw");
  EXPECT_EQ(reply.status, 500);
  EXPECT_THAT(reply.body, HasSubstr(R"("id":"http.internal")"));
  EXPECT_THAT(reply.body, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(client.Get("/ok").status, 200);
}

TEST(Server, HeadHasNoBody) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  client.Send("HEAD /ok HTTP/1.1\r\nHost: t\r\n\r\n");
  const auto reply = client.ReadReply(true);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Header("Content-Length"), "2");
  EXPECT_EQ(client.Get("/ok").body, "ok");
}

TEST(Server, Http10) {
  TestServer server(EchoRouter());
  RawClient plain(server.port());
  auto reply = plain.Exchange("GET /ok HTTP/1.0\r\n\r\n");
  EXPECT_EQ(reply.body, "ok");
  EXPECT_EQ(reply.Header("Connection"), "close");
  EXPECT_EQ(plain.ReadAll(), "");
  RawClient keeping(server.port());
  reply = keeping.Exchange("GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(reply.Header("Connection"), "keep-alive");
  EXPECT_EQ(keeping.Exchange("GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").body, "ok");
}

TEST(Server, BodiesByLengthAndByChunks) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  const std::string large(3 << 20, 'y');
  client.Send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(large.size()) +
              "\r\n\r\n" + large);
  EXPECT_EQ(client.ReadReply().body, large);
  client.Send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (const char* piece : {"1\r", "\na\r\n", "0000", "2\r\nbc\r", "\n0\r\n\r", "\n"}) {
    EXPECT_TRUE(client.Send(piece));
  }
  EXPECT_EQ(client.ReadReply().body, "abc");
}

TEST(Server, ExpectContinue) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  client.Send(
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("abc");
  EXPECT_EQ(client.ReadReply().body, "abc");
}

// What is refused gets its answer, then the connection ends, also while the client still sends.
TEST(Server, RefusedRequestsEndTheConnection) {
  TestServer server(EchoRouter());
  const auto refused = [&](std::string_view bytes) {
    RawClient client(server.port());
    client.Send(bytes);
    const auto reply = client.ReadReply();
    EXPECT_EQ(reply.Header("Connection"), "close");
    EXPECT_EQ(client.ReadAll(), "");
    const size_t at = reply.body.find("\"id\":\"") + 6;
    return fmt::format("{} {}", reply.status, reply.body.substr(at, reply.body.find('"', at) - at));
  };
  EXPECT_EQ(refused("nonsense\r\n\r\n"), "400 http.malformed");
  EXPECT_EQ(refused("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            "400 http.bad_framing");
  EXPECT_EQ(refused("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nq\r\n"),
            "400 http.malformed");
  EXPECT_EQ(refused("GET /" + std::string(40 << 10, 'x')), "431 http.header_too_large");
  EXPECT_EQ(refused("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999\r\n\r\nabc"),
            "413 http.body_too_large");
}

TEST(Server, TruncatedRequestsAreDropped) {
  TestServer server(EchoRouter());
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  for (size_t size = 0; size < request.size(); ++size) {
    RawClient client(server.port());
    client.Send(request.substr(0, size));
    client.EndSending();
    EXPECT_EQ(client.ReadAll(), "") << size;
  }
}

TEST(Server, SlowHeadAndBodyTimeOut) {
  TestServer server(EchoRouter());
  RawClient head(server.port());
  head.Send("GET /ok HT");
  RawClient body(server.port());
  body.Send(
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n"
      "Expect: 100-continue\r\n\r\n");
  body.ReadUntil("\r\n\r\n");
  body.Send("x");
  const PassingTime time(&server.clock());
  for (RawClient* client : {&head, &body}) {
    const auto reply = client->ReadReply();
    EXPECT_EQ(reply.status, 408);
    EXPECT_THAT(reply.body, HasSubstr("http.request_timeout"));
    EXPECT_EQ(client->ReadAll(), "");
  }
}

TEST(Server, IdleConnectionsAreClosed) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  EXPECT_EQ(client.Get("/ok").status, 200);
  const PassingTime time(&server.clock());
  EXPECT_EQ(client.ReadAll(), "");
}

TEST(Server, TooManyConnections) {
  TestServer server(EchoRouter(), net::ServerOptions{.max_connections = 2});
  RawClient a(server.port());
  RawClient b(server.port());
  EXPECT_EQ(a.Get("/ok").status, 200);
  EXPECT_EQ(b.Get("/ok").status, 200);
  RawClient c(server.port());
  const auto reply = c.Get("/ok");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Header("Retry-After"), "1");
  EXPECT_THAT(reply.body, HasSubstr("http.too_many_connections"));
  EXPECT_EQ(a.Get("/ok").status, 200);
}

TEST(Server, RouterCanBeReplaced) {
  TestServer server(EchoRouter());
  RawClient client(server.port());
  EXPECT_EQ(client.Get("/ok").status, 200);
  server.server().SetRouter(0, std::make_shared<const Router>(Router()));
  while (client.Get("/ok").status == 200) {
  }
  EXPECT_EQ(client.Get("/ok").status, 404);
}

TEST(Server, ListenReportsWhy) {
  TestServer server(EchoRouter());
  const SystemClock clock;
  net::Server net({}, clock);
  Server other(net, {}, {.clock = clock});
  const auto router = std::make_shared<const Router>();
  EXPECT_EQ(other.Listen({.port = server.port()}, router).error().id(), "http.listen");
  EXPECT_EQ(other.Listen({.host = "no such host"}, router).error().id(), "http.listen");
}

TEST(Server, StopsWithIdleClients) {
  TestServer server(EchoRouter());
  RawClient idle(server.port());
  EXPECT_EQ(idle.Get("/ok").status, 200);
  server.Stop();
  EXPECT_EQ(idle.ReadAll(), "");
  EXPECT_EQ(server.server().connections(), 0u);
}

}  // namespace
}  // namespace sluice::http
