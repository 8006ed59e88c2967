// The client module against the server, plain and by TLS, and TLS itself.
#include "client/client.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/websocket.h"
#include "http/test_client.h"
#include "net/run_blocking.h"
#include "net/test_certificate.h"

namespace sluice::http {
namespace {

using client::Client;
using testing::HasSubstr;

Router ClientRouter() {
  Router router;
  const auto add = [&](Method method, std::string path, Handler handler) {
    EXPECT_TRUE(router.Add({.method = method, .path = path, .handler = std::move(handler)}).ok());
  };
  add(Method::kPost, "/echo", [](Request& request, Response& response) {
    response.AddHeader("X-Had", request.FindHeader("X-Send").value_or("none"));
    response.Body(201, "text/plain", request.TakeBody());
  });
  add(Method::kGet, "/remote",
      [](Request& request, Response& response) { response.Text(200, request.remote()); });
  add(Method::kGet, "/stream", [](Request&, Response& response) -> Task<> {
    const std::string piece(10'000, 's');
    for (int i = 0; i < 100; ++i) (void)co_await response.Write(piece);
  });
  add(Method::kGet, "/aborted", [](Request&, Response& response) -> Task<> {
    (void)co_await response.Write("part");
    response.Abort();
  });
  EXPECT_TRUE(router
                  .Add({.path = "/socket",
                        .websocket = [](Request&, WebSocket& socket) -> Task<> {
                          while (true) {
                            Result<WebSocket::Message> message = co_await socket.Read();
                            if (!message) co_return;
                            if (message->data == "bye") break;
                            if (message->data == "silence") continue;
                            (void)co_await socket.Write(std::move(*message));
                          }
                          socket.SetClose(4001, "enough");
                        }})
                  .ok());
  return router;
}

std::string Url(const TestServer& server, const char* scheme = "http") {
  return fmt::format("{}://127.0.0.1:{}", scheme, server.port());
}

TEST(Client, KeepsItsConnection) {
  TestServer server(ClientRouter());
  Result<Client> client = Client::Make(Url(server));
  const std::string remote = client->Send({.path = "/remote"})->body;
  EXPECT_THAT(remote, HasSubstr("127.0.0.1:"));
  EXPECT_EQ(client->Send({.path = "/remote"})->body, remote);
  EXPECT_EQ(client->Send({.method = "HEAD", .path = "/remote"})->body, "");
  EXPECT_EQ(client->Send({.path = "/none"})->status, 404);
  EXPECT_EQ(client->Send({.path = "/remote"})->body, remote);
  client->Close();
  EXPECT_NE(client->Send({.path = "/remote"})->body, remote);
}

TEST(Client, SendsAndStreams) {
  TestServer server(ClientRouter());
  Result<Client> client = Client::Make(Url(server));
  auto reply = client->Send({.method = "POST",
                             .path = "/echo",
                             .headers = {{"X-Send", "yes"}},
                             .body = std::string(1 << 20, 'b')});
  ASSERT_TRUE(reply) << reply.error().ToString();
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->Header("x-had"), "yes");
  EXPECT_EQ(reply->body.size(), 1u << 20);

  int pieces = 0;
  reply = client->Send(
      {.method = "POST", .path = "/echo", .producer = [&]() -> Result<std::optional<std::string>> {
         if (pieces == 50) return std::nullopt;
         return std::string(1000, static_cast<char>('a' + pieces++ % 26));
       }});
  ASSERT_TRUE(reply) << reply.error().ToString();
  EXPECT_EQ(reply->body.size(), 50'000u);
  EXPECT_EQ(reply->body[49'999], 'x');

  std::string consumed;
  reply = client->Send({.path = "/stream", .consumer = [&](std::string_view piece) {
                          consumed += piece;
                          return OkStatus();
                        }});
  EXPECT_EQ(consumed, std::string(1'000'000, 's'));
  EXPECT_EQ(reply->body, "");
}

TEST(Client, ErrorsOfProducerConsumerAndServer) {
  TestServer server(ClientRouter());
  Result<Client> client = Client::Make(Url(server));
  EXPECT_EQ(client
                ->Send({.method = "POST",
                        .path = "/echo",
                        .producer = [] { return Fail(Code::kIo, "disk.gone", "no disk"); }})
                .error()
                .id(),
            "disk.gone");
  EXPECT_EQ(client
                ->Send({.path = "/stream",
                        .consumer =
                            [](std::string_view) {
                              return Error(Code::kNoSpace, "disk.full", "no space");
                            }})
                .error()
                .id(),
            "disk.full");
  EXPECT_EQ(client->Send({.path = "/aborted"}).error().id(), "client.broken");
  EXPECT_EQ(client->Send({.path = "/remote"})->status, 200);
}

// A body that is refused early: the answer arrives although the client is still sending.
TEST(Client, RefusedUploadGetsItsAnswer) {
  TestServer server(ClientRouter(), {.request = {.max_body_bytes = 1000}});
  Result<Client> client = Client::Make(Url(server));
  const auto reply =
      client->Send({.method = "POST", .path = "/echo", .body = std::string(200'000, 'x')});
  ASSERT_TRUE(reply) << reply.error().ToString();
  EXPECT_EQ(reply->status, 413);
}

void TalkOverWebSocket(Client* client) {
  client::Response refusal;
  const auto socket = client->OpenWebSocket({.path = "/socket"}, &refusal);
  ASSERT_TRUE(socket) << socket.error().ToString();
  for (const size_t size : {0, 5, 125, 126, 65'535, 65'536, 1'000'000}) {
    const std::string text(size, 'x');
    ASSERT_TRUE((*socket)->Send(text).ok());
    EXPECT_EQ((*socket)->Read({}).value(), text);
  }
  EXPECT_TRUE((*socket)->Alive());
  ASSERT_TRUE((*socket)->Send("silence").ok());
  EXPECT_EQ((*socket)->Read({.timeout_ms = 50}).error().id(), "client.timeout");
  const std::atomic<bool> interrupted = true;
  EXPECT_EQ((*socket)->Read({.interrupted = &interrupted}).error().id(), "client.interrupted");
  ASSERT_TRUE((*socket)->Send("bye").ok());
  const auto end = (*socket)->Read({});
  EXPECT_EQ(end.error().id(), "client.closed");
  EXPECT_THAT(end.error().message(), HasSubstr("enough"));
  EXPECT_FALSE((*socket)->Alive());
}

TEST(Client, TalksOverAWebSocket) {
  TestServer server(ClientRouter());
  Result<Client> client = Client::Make(Url(server));
  TalkOverWebSocket(&*client);
  client::Response refusal;
  EXPECT_EQ(client->OpenWebSocket({.path = "/none"}, &refusal).error().id(), "client.refused");
  EXPECT_EQ(refusal.status, 404);
  EXPECT_THAT(refusal.body, HasSubstr("http.no_route"));
}

class TlsTest : public testing::Test {
 protected:
  net::Certificate files_;
  TestServer server_{ClientRouter(),
                     {},
                     nullptr,
                     nullptr,
                     {.tls = net::TlsOptions{.certificate_file = files_.certificate(),
                                             .key_file = files_.key_file()}}};
};

TEST_F(TlsTest, RequestsAndStreams) {
  Result<Client> client = Client::Make(Url(server_, "https"), {.ca_file = files_.certificate()});
  const auto first = client->Send({.path = "/remote"});
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(client->Send({.path = "/remote"})->body, first->body);
  const auto echoed =
      client->Send({.method = "POST", .path = "/echo", .body = std::string(3 << 20, 'b')});
  ASSERT_TRUE(echoed) << echoed.error().ToString();
  EXPECT_EQ(echoed->body.size(), 3u << 20);
  EXPECT_EQ(client->Send({.path = "/stream"})->body.size(), 1'000'000u);
  EXPECT_EQ(client->Send({.path = "/remote"})->body, first->body);
}

TEST_F(TlsTest, WebSocket) {
  Result<Client> client = Client::Make(Url(server_, "https"), {.ca_file = files_.certificate()});
  TalkOverWebSocket(&*client);
}

TEST_F(TlsTest, CertificateIsChecked) {
  Result<Client> trusting = Client::Make(Url(server_, "https"));
  EXPECT_EQ(trusting->Send({.path = "/remote"}).error().id(), "client.tls");
  Result<Client> careless =
      Client::Make(Url(server_, "https"), {.verify = client::ClientOptions::Verify::kNothing});
  EXPECT_EQ(careless->Send({.path = "/remote"})->status, 200);
}

TEST_F(TlsTest, PlainAndSilentClients) {
  RawClient plain(server_.port());
  plain.Send("GET /remote HTTP/1.1\r\nHost: t\r\n\r\n");
  plain.ReadAll();  // an alert at most, then the end
  RawClient silent(server_.port());
  const PassingTime time(&server_.clock());
  EXPECT_EQ(silent.ReadAll(), "");
}

TEST_F(TlsTest, StopsWithIdleClients) {
  Result<Client> client = Client::Make(Url(server_, "https"), {.ca_file = files_.certificate()});
  EXPECT_EQ(client->Send({.path = "/remote"})->status, 200);
  server_.Stop();
  EXPECT_EQ(server_.server().connections(), 0u);
}

TEST(Tls, BadFilesAreReported) {
  const SystemClock clock;
  net::Server net({}, clock);
  Server server(net, {}, {.clock = clock});
  const auto listener = server.Listen(
      {.tls = net::TlsOptions{.certificate_file = "/none/cert.pem", .key_file = "/none/key.pem"}},
      std::make_shared<const Router>());
  EXPECT_EQ(listener.error().id(), "http.tls");
  EXPECT_THAT(listener.error().message(), HasSubstr("/none/cert.pem"));
}

}  // namespace
}  // namespace sluice::http
