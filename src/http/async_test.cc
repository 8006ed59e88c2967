// Handlers that wait: completions, workers, streams, server-sent events, filters, graceful stop.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "http/sse.h"
#include "http/test_client.h"
#include "net/completion.h"
#include "net/run_blocking.h"

namespace sluice::http {
namespace {

using testing::HasSubstr;

Router OneRoute(std::string path, Handler handler) {
  Router router;
  EXPECT_TRUE(router.Add({.path = std::move(path), .handler = std::move(handler)}).ok());
  EXPECT_TRUE(
      router.Add({.path = "/ok", .handler = [](Request&, Response& r) { r.Text(200, "ok"); }})
          .ok());
  return router;
}

// A value that one thread sets and another waits for.
template <typename T>
class Mailbox {
 public:
  void Put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  T Take() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(net::kPatienceSeconds),
                                  [&] { return !values_.empty(); }));
    T value = std::move(values_.front());
    values_.erase(values_.begin());
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

TEST(Completion, DeliveredByAnotherThread) {
  Mailbox<net::Completion<std::string>> asked;
  TestServer server(OneRoute("/wait", [&](Request& request, Response& response) -> Task<> {
    const auto thread = std::this_thread::get_id();
    net::Completion<std::string> done(request.exchange());
    asked.Put(done);
    const Result<std::string> value = co_await done;
    EXPECT_EQ(std::this_thread::get_id(), thread);
    response.Text(200, value.value_or("cancelled"));
  }));
  RawClient client(server.port());
  client.Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\nGET /ok HTTP/1.1\r\nHost: t\r\n\r\n");
  const net::Completion<std::string> done = asked.Take();
  done.Complete("first");
  done.Complete("second");
  EXPECT_EQ(client.ReadReply().body, "first");
  EXPECT_EQ(client.ReadReply().body, "ok");
}

TEST(Completion, ReadyBeforeTheWait) {
  TestServer server(OneRoute("/wait", [](Request& request, Response& response) -> Task<> {
    net::Completion<int> done(request.exchange());
    done.Complete(7);
    response.Text(200, std::to_string((co_await done).value_or(0)));
  }));
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Get("/wait").body, "7");
}

TEST(Completion, ManyFromManyThreads) {
  TestServer server(OneRoute("/wait", [&](Request& request, Response& response) -> Task<> {
    net::Completion<int> done(request.exchange());
    std::thread([done] { done.Complete(1); }).detach();
    response.Text(200, std::to_string((co_await done).value_or(0)));
  }));
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      RawClient client(server.port());
      for (int n = 0; n < 200; ++n) EXPECT_EQ(client.Get("/wait").body, "1");
    });
  }
  for (std::thread& client : clients) client.join();
}

TEST(Completion, LateAfterTheServerHasGone) {
  Mailbox<net::Completion<int>> asked;
  std::optional<net::Completion<int>> late;
  {
    TestServer server(OneRoute("/wait",
                               [&](Request& request, Response& response) -> Task<> {
                                 net::Completion<int> done(request.exchange());
                                 asked.Put(done);
                                 response.Text((co_await done) ? 200 : 500, "");
                               }),
                      net::ServerOptions{.drain_ms = 1});
    RawClient client(server.port());
    client.Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n");
    late = asked.Take();
    server.Stop();
    EXPECT_EQ(client.ReadAll(), "");
  }
  late->Complete(1);
}

TEST(Completion, ResetByTheClientCancels) {
  Mailbox<net::Completion<int>> asked;
  Mailbox<std::string> outcome;
  TestServer server(OneRoute("/wait", [&](Request& request, Response&) -> Task<> {
    net::Completion<int> done(request.exchange());
    asked.Put(done);
    const Result<int> value = co_await done;
    outcome.Put(value ? "value" : value.error().id());
  }));
  RawClient client(server.port());
  client.Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n");
  asked.Take();
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  client.Close();
  EXPECT_EQ(outcome.Take(), "http.cancelled");
}

TEST(Completion, CancelledWhenTheClientClosesWithoutAnAnswer) {
  Mailbox<int> asked;
  Mailbox<std::string> outcome;
  TestServer server(OneRoute("/wait", [&](Request& request, Response&) -> Task<> {
    const net::Completion<int> never(request.exchange());
    asked.Put(1);
    const Result<int> value = co_await never;
    outcome.Put(value ? "value" : value.error().id());
  }));
  RawClient client(server.port());
  client.Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n");
  asked.Take();
  client.Close();
  EXPECT_EQ(outcome.Take(), "http.cancelled");
}

TEST(Completion, HalfClosedClientStillGetsItsAnswer) {
  Mailbox<net::Completion<int>> asked;
  TestServer server(OneRoute("/wait", [&](Request& request, Response& response) -> Task<> {
    net::Completion<int> done(request.exchange());
    asked.Put(done);
    response.Text(200, std::to_string((co_await done).value_or(0)));
  }));
  RawClient client(server.port());
  client.Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n");
  client.EndSending();
  // It is asked now and then whether it is still there.
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), HasSubstr("102 Processing"));
  asked.Take().Complete(5);
  EXPECT_EQ(client.ReadReply().body, "5");
  EXPECT_EQ(client.ReadAll(), "");
}

TEST(Workers, RunBlockingAndBlocking) {
  Router router = OneRoute("/run", [](Request& request, Response& response) -> Task<> {
    const auto thread = std::this_thread::get_id();
    const Result<int> value = co_await net::RunBlocking(request.exchange(), [&] {
      EXPECT_NE(std::this_thread::get_id(), thread);
      return 42;
    });
    EXPECT_EQ(std::this_thread::get_id(), thread);
    response.Text(200, std::to_string(value.value_or(0)));
  });
  ASSERT_TRUE(
      router
          .Add({.path = "/blocking", .handler = Blocking([](Request& request, Response& response) {
                                       response.Text(200, std::string(request.path()));
                                     })})
          .ok());
  ASSERT_TRUE(router
                  .Add({.path = "/throws",
                        .handler = Blocking([](Request&, Response&) { throw std::bad_alloc(); })})
                  .ok());
  TestServer server(std::move(router));
  RawClient client(server.port());
  EXPECT_EQ(client.Get("/run").body, "42");
  EXPECT_EQ(client.Get("/blocking").body, "/blocking");
  EXPECT_THAT(client.Get("/throws").body, HasSubstr("http.internal"));
}

TEST(Workers, FullQueueIsOverload) {
  Mailbox<int> started;
  Mailbox<int> release;
  TestServer server(OneRoute("/block", Blocking([&](Request&, Response& response) {
                               started.Put(1);
                               release.Take();
                               response.Text(200, "done");
                             })),
                    net::ServerOptions{.worker_threads = 1, .worker_queue = 1});
  RawClient running(server.port());
  running.Send("GET /block HTTP/1.1\r\nHost: t\r\n\r\n");
  started.Take();
  // One runs; of two more, the first to come is queued and the other refused.
  RawClient second(server.port());
  RawClient third(server.port());
  second.Send("GET /block HTTP/1.1\r\nHost: t\r\n\r\n");
  third.Send("GET /block HTTP/1.1\r\nHost: t\r\n\r\n");
  pollfd ready[] = {{.fd = second.fd(), .events = POLLIN, .revents = 0},
                    {.fd = third.fd(), .events = POLLIN, .revents = 0}};
  ASSERT_EQ(::poll(ready, 2, net::kPatienceSeconds * 1000), 1);
  const bool second_refused = ready[0].revents != 0;
  RawClient& refused = second_refused ? second : third;
  RawClient& queued = second_refused ? third : second;
  const auto reply = refused.ReadReply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Header("Retry-After"), "1");
  EXPECT_THAT(reply.body, HasSubstr("http.overloaded"));
  release.Put(1);
  release.Put(1);
  EXPECT_EQ(running.ReadReply().body, "done");
  EXPECT_EQ(queued.ReadReply().body, "done");
}

TEST(Stream, ChunksWithBackPressure) {
  const std::string piece(100'000, 'z');
  TestServer server(OneRoute("/stream", [&](Request&, Response& response) -> Task<> {
    response.set_content_type("text/plain");
    for (int i = 0; i < 100; ++i) {
      if (!(co_await response.Write(piece)).ok()) co_return;
    }
  }));
  RawClient client(server.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: t\r\n\r\n");
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked"));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(client.ReadUntil("\r\n"), "186a0\r\n");
    EXPECT_EQ(client.ReadBytes(piece.size()), piece);
    EXPECT_EQ(client.ReadBytes(2), "\r\n");
  }
  EXPECT_EQ(client.ReadBytes(5), "0\r\n\r\n");
  EXPECT_EQ(client.Get("/ok").body, "ok");
  // HEAD: the head and nothing else.
  client.Send("HEAD /stream HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(client.ReadReply(true).status, 200);
  EXPECT_EQ(client.Get("/ok").body, "ok");
  // HTTP/1.0: until the end of the connection.
  RawClient old(server.port());
  old.Send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.ReadUntil("\r\n\r\n"), HasSubstr("Connection: close"));
  EXPECT_EQ(old.ReadAll().size(), 100 * piece.size());
}

TEST(Stream, AbortedStreamHasNoLastChunk) {
  TestServer server(OneRoute("/stream", [](Request&, Response& response) -> Task<> {
    (void)co_await response.Write("part");
    throw std::runtime_error("broken");
  }));
  RawClient client(server.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: t\r\n\r\n");
  const std::string all = client.ReadAll();
  EXPECT_TRUE(all.ends_with("\r\n4\r\npart\r\n")) << all;
}

TEST(Stream, DisconnectWhileWritingCancels) {
  Mailbox<std::string> outcome;
  TestServer server(OneRoute("/stream", [&](Request&, Response& response) -> Task<> {
    const std::string piece(1 << 16, 'z');
    Status sent;
    while (sent.ok()) sent = co_await response.Write(piece);
    outcome.Put(sent.id());
  }));
  RawClient client(server.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadBytes(1 << 20);
  client.Close();
  EXPECT_EQ(outcome.Take(), "http.cancelled");
}

TEST(Stream, StalledReaderIsClosed) {
  Mailbox<std::string> outcome;
  TestServer server(OneRoute("/stream", [&](Request&, Response& response) -> Task<> {
    const std::string piece(1 << 16, 'z');
    Status sent;
    while (sent.ok()) sent = co_await response.Write(piece);
    outcome.Put(sent.id());
  }));
  RawClient client(server.port());
  client.Send("GET /stream HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  const PassingTime time(&server.clock());
  EXPECT_EQ(outcome.Take(), "http.cancelled");
}

class FeedTest : public testing::Test {
 protected:
  FeedTest()
      : server_(OneRoute("/feed", [this](Request& request, Response& response) -> Task<> {
          EventStream stream(request, response, 15'000);
          (void)co_await stream.Open();
          Status sent;
          std::string id = stream.last_event_id().value_or("0");
          while (sent.ok()) {
            net::Completion<std::string> next(request.exchange());
            next_.Put(next);
            const Result<std::string> event = co_await next;
            if (!event) break;
            id = std::to_string(std::stoi(id) + 1);
            sent = co_await stream.Send({.id = id, .event = "change", .data = *event});
          }
          outcome_.Put("ended");
        })) {}

  Mailbox<net::Completion<std::string>> next_;
  Mailbox<std::string> outcome_;
  TestServer server_;
};

TEST_F(FeedTest, EventsAndResume) {
  RawClient client(server_.port());
  client.Send("GET /feed HTTP/1.1\r\nHost: t\r\nLast-Event-ID: 41\r\n\r\n");
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
  next_.Take().Complete("a\nb");
  const std::string event = "id: 42\nevent: change\ndata: a\ndata: b\n\n";
  EXPECT_EQ(client.ReadUntil("\n\n\r\n"), fmt::format("{:x}\r\n{}\r\n", event.size(), event));
  next_.Take().Complete("c");
  EXPECT_THAT(client.ReadUntil("\n\n\r\n"), HasSubstr("id: 43\n"));
}

TEST_F(FeedTest, DisconnectIsNoticedWhileItWaits) {
  RawClient client(server_.port());
  client.Send("GET /feed HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  next_.Take();
  client.Close();
  EXPECT_EQ(outcome_.Take(), "ended");
}

TEST_F(FeedTest, Heartbeat) {
  RawClient client(server_.port());
  client.Send("GET /feed HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  const net::Completion<std::string> next = next_.Take();
  server_.clock().AdvanceMs(15'001);
  EXPECT_EQ(client.ReadUntil("\n\n\r\n"), "3\r\n:\n\n\r\n");
  next.Complete("x");
  EXPECT_THAT(client.ReadUntil("\n\n\r\n"), HasSubstr("data: x\n"));
}

TEST_F(FeedTest, StopEndsFeedsAtOnce) {
  RawClient client(server_.port());
  client.Send("GET /feed HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  next_.Take();
  server_.Stop();
  EXPECT_EQ(outcome_.Take(), "ended");
  EXPECT_EQ(client.ReadAll(), "");
}

TEST(EventStream, LineBreaksCannotForgeFields) {
  std::string out;
  EventStream::Append({.id = "1\nevent: x", .data = "a\r\nb\n"}, &out);
  EXPECT_EQ(out, "id: 1 event: x\ndata: a \ndata: b\ndata: \n\n");
}

class NamedPrincipal final : public Principal {
 public:
  explicit NamedPrincipal(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }

 private:
  std::string name_;
};

// "Authorization: fast NAME" passes at once, "slow NAME" after a visit to the workers.
class TestFilter final : public Filter {
 public:
  Verdict Check(const Route& route, Request& request, Response& response) override {
    if (route.auth.empty()) return Verdict::kPass;
    const std::string_view given = request.FindHeader("Authorization").value_or("");
    if (given.starts_with("slow ")) return Verdict::kLater;
    return Decide(given, request, response);
  }
  Task<Verdict> CheckLater(const Route&, Request& request, Response& response) override {
    const std::string given(*request.FindHeader("Authorization"));
    (void)co_await net::RunBlocking(request.exchange(), [] { return 1; });
    co_return Decide(given, request, response);
  }

 private:
  Verdict Decide(std::string_view given, Request& request, Response& response) {
    if (given.size() < 6) {
      response.Error(Error(Code::kUnauthenticated, "auth.required", "who are you?"));
      return Verdict::kAnswered;
    }
    request.set_principal(std::make_shared<NamedPrincipal>(std::string(given.substr(5))));
    return Verdict::kPass;
  }
};

class TestObserver final : public RequestObserver {
 public:
  void OnRequest(const RequestRecord& record) override {
    seen.Put(fmt::format("{} {} {} {} {} {}", MethodName(record.request.method()),
                         record.request.path(), record.route ? record.route->path : "-",
                         record.status, record.response_bytes, record.cancelled));
  }
  Mailbox<std::string> seen;
};

TEST(Filter, AnswersOrAttachesAPrincipal) {
  Router router = OneRoute("/open", [](Request&, Response& response) { response.NoContent(); });
  ASSERT_TRUE(router
                  .Add({.path = "/who/{x}",
                        .auth = "read",
                        .handler =
                            [](Request& request, Response& response) {
                              response.Text(200, std::string(request.principal()->name()));
                            }})
                  .ok());
  TestFilter filter;
  TestObserver observer;
  TestServer server(std::move(router), {}, &filter, &observer);
  RawClient client(server.port());
  EXPECT_EQ(client.Get("/open").status, 204);
  EXPECT_EQ(observer.seen.Take(), "GET /open /open 204 0 false");
  EXPECT_EQ(client.Get("/who/1").status, 401);
  observer.seen.Take();
  for (const char* how : {"fast", "slow"}) {
    EXPECT_EQ(client
                  .Exchange(fmt::format(
                      "GET /who/1 HTTP/1.1\r\nHost: t\r\nAuthorization: {} ann\r\n\r\n", how))
                  .body,
              "ann");
    EXPECT_EQ(observer.seen.Take(), "GET /who/1 /who/{x} 200 3 false");
  }
  EXPECT_EQ(client.Get("/none").status, 404);
  EXPECT_THAT(observer.seen.Take(), testing::StartsWith("GET /none - 404"));
}

// A body is not read for who may not send it.
TEST(Filter, DecidesBeforeTheBody) {
  Router router;
  ASSERT_TRUE(router
                  .Add({.method = Method::kPut,
                        .path = "/in",
                        .auth = "write",
                        .handler =
                            [](Request& request, Response& response) {
                              response.Text(200, fmt::format("{} {}", request.principal()->name(),
                                                             request.body().size()));
                            }})
                  .ok());
  TestFilter filter;
  TestObserver observer;
  TestServer server(std::move(router), {}, &filter, &observer);
  const auto head = [](std::string_view path, std::string_view more) {
    return fmt::format("PUT {} HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n{}\r\n", path,
                       more);
  };
  for (const std::string_view path : {"/in", "/nowhere"}) {
    RawClient client(server.port());
    const auto reply = client.Exchange(head(path, "Expect: 100-continue\r\n"));
    EXPECT_EQ(reply.status, path == "/in" ? 401 : 404);
    EXPECT_EQ(reply.Header("Connection"), "close");
    EXPECT_THAT(observer.seen.Take(), testing::StartsWith(fmt::format("PUT {} ", path)));
  }
  for (const char* how : {"fast", "slow"}) {
    RawClient client(server.port());
    client.Send(head("/in", fmt::format("Authorization: {} ann\r\nExpect: 100-continue\r\n", how)));
    EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(client.Exchange(std::string(100'000, 'b')).body, "ann 100000");
    // What is sent ahead while the filter is asked is not lost.
    const std::string message =
        head("/in", fmt::format("Authorization: {} bob\r\n", how)) + std::string(100'000, 'b');
    EXPECT_EQ(client.Exchange(message + message).body, "bob 100000");
    EXPECT_EQ(client.ReadReply().body, "bob 100000");
  }
}

TEST(Stop, AnswersWhatIsInFlight) {
  Mailbox<net::Completion<int>> asked;
  TestServer server(OneRoute("/wait", [&](Request& request, Response& response) -> Task<> {
    net::Completion<int> done(request.exchange());
    asked.Put(done);
    response.Text(200, std::to_string((co_await done).value_or(0)));
  }));
  RawClient client(server.port());
  client.Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n");
  const net::Completion<int> done = asked.Take();
  RawClient idle(server.port());
  EXPECT_EQ(idle.Get("/ok").body, "ok");
  std::thread stopper([&] { server.Stop(); });
  EXPECT_EQ(idle.ReadAll(), "");  // the drain has begun
  done.Complete(3);
  const auto reply = client.ReadReply();
  EXPECT_EQ(reply.body, "3");
  EXPECT_EQ(reply.Header("Connection"), "close");
  EXPECT_EQ(client.ReadAll(), "");
  client.Close();
  stopper.join();
}

// Every answer that a client begins to get under load is whole.
TEST(Stop, UnderLoad) {
  TestServer server(OneRoute("/work", Blocking([](Request&, Response& response) {
                               response.Body(200, "text/plain", std::string(50'000, 'w'));
                             })));
  std::counting_semaphore<> answered(0);
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; ++i) {
    // Connected before others are answered so often that the server stops.
    clients.emplace_back([&, connected = std::make_unique<RawClient>(server.port())] {
      RawClient& client = *connected;
      while (client.Send("GET /work HTTP/1.1\r\nHost: t\r\n\r\n")) {
        const auto reply = client.ReadReply();
        if (reply.head.empty()) break;
        EXPECT_EQ(reply.status, 200);
        EXPECT_EQ(reply.body.size(), 50'000u);
        answered.release();
        if (reply.Header("Connection") == "close") break;
      }
    });
  }
  for (int i = 0; i < 100; ++i) answered.acquire();
  server.Stop();
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(server.server().connections(), 0u);
}

}  // namespace
}  // namespace sluice::http
