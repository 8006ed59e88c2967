#include "http/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/test_client.h"

namespace sluice::http {
namespace {

using testing::HasSubstr;

constexpr std::string_view kUpgrade =
    "GET /echo HTTP/1.1\r\nHost: t\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

enum Opcode : uint8_t { kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

// A client's frame, masked with zeroes; payloads below 64 KiB.
std::string Frame(Opcode opcode, std::string_view payload) {
  std::string frame;
  frame.push_back(static_cast<char>(0x80 | opcode));
  if (payload.size() < 126) {
    frame.push_back(static_cast<char>(0x80 | payload.size()));
  } else {
    frame.push_back(static_cast<char>(0x80 | 126));
    frame.push_back(static_cast<char>(payload.size() >> 8));
    frame.push_back(static_cast<char>(payload.size() & 0xff));
  }
  frame.append(4, '\0');
  frame.append(payload);
  return frame;
}

// The server's next frame as "opcode payload".
std::string ReadFrame(RawClient* client) {
  const std::string head = client->ReadBytes(2);
  if (head.size() < 2) return "end";
  size_t size = static_cast<unsigned char>(head[1]);
  if (size == 126) {
    const std::string longer = client->ReadBytes(2);
    size = static_cast<unsigned char>(longer[0]) * 256u + static_cast<unsigned char>(longer[1]);
  }
  return fmt::format("{} {}", head[0] & 15, client->ReadBytes(size));
}

Router SocketRouter() {
  Router router;
  EXPECT_TRUE(router
                  .Add({.path = "/echo",
                        .websocket = [](Request&, WebSocket& socket) -> Task<> {
                          while (true) {
                            Result<WebSocket::Message> message = co_await socket.Read();
                            if (!message || message->data == "bye") break;
                            const Status sent = co_await socket.Write(std::move(*message));
                            if (!sent.ok()) break;
                          }
                          socket.SetClose(4001, "done");
                        }})
                  .ok());
  // Another thread sends while the handler reads: "push" twice, then it closes.
  EXPECT_TRUE(router
                  .Add({.path = "/push",
                        .websocket = [](Request&, WebSocket& socket) -> Task<> {
                          const Result<WebSocket::Message> first = co_await socket.Read();
                          if (!first) co_return;
                          std::thread([sender = socket.MakeSender(), text = first->data] {
                            sender->Send(text + "1");
                            sender->Send(text + "2");
                            sender->Close();
                            sender->Send("too late");
                          }).detach();
                          const Result<WebSocket::Message> second = co_await socket.Read();
                          socket.SetClose(second ? 4003 : 4002, "");
                        }})
                  .ok());
  EXPECT_TRUE(
      router.Add({.path = "/ok", .handler = [](Request&, Response& r) { r.Text(200, "ok"); }})
          .ok());
  return router;
}

class WebSocketTest : public testing::Test {
 protected:
  void Connect(RawClient* client) {
    client->Send(kUpgrade);
    const std::string head = client->ReadUntil("\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("101 Switching Protocols"));
    EXPECT_THAT(head, HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  }
  TestServer server_{SocketRouter(), {.max_websocket_message_bytes = 50'000}};
};

TEST_F(WebSocketTest, EchoPingAndClose) {
  RawClient client(server_.port());
  EXPECT_EQ(client.Get("/ok").body, "ok");
  Connect(&client);
  client.Send(Frame(kText, "hello"));
  EXPECT_EQ(ReadFrame(&client), "1 hello");
  const std::string large(40'000, 'x');
  client.Send(Frame(kBinary, large));
  EXPECT_EQ(ReadFrame(&client), "2 " + large);
  client.Send(Frame(kPing, "p"));
  EXPECT_EQ(ReadFrame(&client), "10 p");
  client.Send(Frame(kText, "bye"));
  EXPECT_EQ(ReadFrame(&client),
            "8 \x0f\xa1"
            "done");
  client.Send(Frame(kClose, "\x0f\xa1"));
  EXPECT_EQ(client.ReadAll(), "");
}

TEST_F(WebSocketTest, AnotherThreadSendsAndCloses) {
  RawClient client(server_.port());
  std::string upgrade(kUpgrade);
  upgrade.replace(upgrade.find("/echo"), 5, "/push");
  client.Send(upgrade);
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), HasSubstr("101 Switching Protocols"));
  const std::string large(40'000, 'x');
  client.Send(Frame(kText, large));
  EXPECT_EQ(ReadFrame(&client), "1 " + large + "1");
  EXPECT_EQ(ReadFrame(&client), "1 " + large + "2");
  EXPECT_EQ(ReadFrame(&client), "8 \x0f\xa2");
}

TEST_F(WebSocketTest, ClientCloses) {
  RawClient client(server_.port());
  Connect(&client);
  client.Send(Frame(kClose, "\x03\xe8"));
  EXPECT_EQ(ReadFrame(&client), "8 \x03\xe8");
  EXPECT_EQ(client.ReadAll(), "");
}

TEST_F(WebSocketTest, ClientVanishes) {
  {
    RawClient client(server_.port());
    Connect(&client);
    client.Send(Frame(kText, "half").substr(0, 5));
  }
  server_.AwaitNoConnections();
}

TEST_F(WebSocketTest, MessageOverTheLimitCloses) {
  RawClient client(server_.port());
  Connect(&client);
  client.Send(Frame(kText, std::string(50'001, 'x')));
  EXPECT_THAT(ReadFrame(&client), testing::StartsWith("8 \x03\xf1"));  // 1009, too big
}

TEST_F(WebSocketTest, StopEndsIt) {
  RawClient client(server_.port());
  Connect(&client);
  client.Send(Frame(kText, "hello"));
  EXPECT_EQ(ReadFrame(&client), "1 hello");
  std::thread stopper([&] { server_.Stop(); });
  EXPECT_EQ(ReadFrame(&client),
            "8 \x0f\xa1"
            "done");
  client.Send(Frame(kClose, "\x0f\xa1"));
  EXPECT_EQ(client.ReadAll(), "");
  client.Close();
  stopper.join();
}

TEST_F(WebSocketTest, OrdinaryRequestsAreTold) {
  RawClient client(server_.port());
  const auto reply = client.Get("/echo");
  EXPECT_EQ(reply.status, 426);
  EXPECT_THAT(reply.body, HasSubstr("http.websocket_expected"));
  EXPECT_EQ(client.Get("/ok").body, "ok");
  // An upgrade that the resource does not know is an ordinary request.
  EXPECT_EQ(client
                .Exchange("GET /ok HTTP/1.1\r\nHost: t\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                          "Upgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n")
                .body,
            "ok");
  EXPECT_EQ(client.Get("/ok").body, "ok");
}

TEST_F(WebSocketTest, BadHandshake) {
  RawClient client(server_.port());
  client.Send("GET /echo HTTP/1.1\r\nHost: t\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  EXPECT_EQ(client.ReadReply().status, 400);
}

}  // namespace
}  // namespace sluice::http
