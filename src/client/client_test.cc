// Against a fake server; src/http/client_test.cc has the tests against the real one.
#include "client/client.h"

#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::client {
namespace {

// Accepts connections one after the other; for each, reads a head and sends the next of its
// answers, then closes.
class FakeServer {
 public:
  explicit FakeServer(std::vector<std::string> answers)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 8), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answers = std::move(answers)] {
      for (const std::string& answer : answers) Serve(answer);
    });
  }
  ~FakeServer() {
    thread_.join();
    ::close(fd_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void Serve(const std::string& answer) {
    const int client = ::accept(fd_, nullptr, nullptr);
    std::string head;
    char byte;
    while (!head.ends_with("\r\n\r\n") && ::recv(client, &byte, 1, 0) == 1) head.push_back(byte);
    EXPECT_EQ(::send(client, answer.data(), answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(answer.size()));
    ::close(client);
  }

  int fd_;
  uint16_t port_ = 0;
  std::thread thread_;
};

Result<Response> GetOnce(const std::string& answer) {
  FakeServer server({answer});
  Result<Client> client = Client::Make(server.url());
  return client->Send({});
}

TEST(Client, Urls) {
  EXPECT_EQ(Client::Make("http://h:81")->port(), 81);
  EXPECT_EQ(Client::Make("http://h/")->port(), 80);
  EXPECT_EQ(Client::Make("https://h")->port(), 443);
  EXPECT_EQ(Client::Make("h:82")->port(), 82);
  EXPECT_EQ(Client::Make("http://[::1]:81")->host(), "::1");
  for (const char* url : {"", "ftp://h", "http://", "http://h:x", "http://h:99999", "http://h/path",
                          "http://u@h", "http://a b"}) {
    const Result<Client> made = Client::Make(url);
    ASSERT_FALSE(made) << url;
    EXPECT_EQ(made.error().id(), "client.bad_url");
  }
}

TEST(Client, RefusesWhatWouldForgeARequest) {
  Result<Client> client = Client::Make("http://127.0.0.1:1");
  EXPECT_EQ(client->Send({.path = "/a b"}).error().id(), "client.bad_request");
  EXPECT_EQ(client->Send({.path = "a"}).error().id(), "client.bad_request");
  EXPECT_EQ(client->Send({.headers = {{"A", "b\r\nC: d"}}}).error().id(), "client.bad_request");
}

TEST(Client, NobodyListens) {
  Result<Client> client = Client::Make("http://127.0.0.1:1");
  EXPECT_EQ(client->Send({}).error().id(), "client.connect");
  client = Client::Make("http://no-such-host.invalid:1");
  EXPECT_EQ(client->Send({}).error().id(), "client.connect");
}

TEST(Client, Answers) {
  auto reply = GetOnce(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\n"
      "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
  ASSERT_TRUE(reply) << reply.error().ToString();
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->Header("x-a"), "1");
  EXPECT_EQ(reply->body, "abc");
  reply = GetOnce("HTTP/1.0 404 Not Found\r\n\r\nuntil the end");
  EXPECT_EQ(reply->status, 404);
  EXPECT_EQ(reply->body, "until the end");
}

TEST(Client, BrokenAnswers) {
  for (const char* answer : {"", "HTTP/1.1 200 OK\r\nContent-Le", "nonsense\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    const auto reply = GetOnce(answer);
    ASSERT_FALSE(reply) << answer;
    EXPECT_EQ(reply.error().id(), "client.broken") << answer;
  }
}

TEST(Client, ReconnectsWhenTheServerClosedItsConnection) {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  FakeServer server({answer, answer, answer});
  Result<Client> client = Client::Make(server.url());
  for (int i = 0; i < 3; ++i) {
    const auto reply = client->Send({});
    ASSERT_TRUE(reply) << reply.error().ToString();
    EXPECT_EQ(reply->body, "ok");
  }
}

TEST(Client, SilentServerTimesOut) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(fd, 8), 0);
  ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  Result<Client> client = Client::Make(
      "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)), {.io_timeout_ms = 20});
  EXPECT_EQ(client->Send({}).error().id(), "client.timeout");
  ::close(fd);
}

}  // namespace
}  // namespace sluice::client
