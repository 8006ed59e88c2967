// For tests: a blocking client that sends exactly the bytes it is told to and reads answers, and a
// server on a free port.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "http/server.h"
#include "net/server.h"
#include "net/test_client.h"

namespace sluice::http {

using net::PassingTime;

class RawClient : public net::RawClient {
 public:
  using net::RawClient::RawClient;

  struct Reply {
    int status = 0;
    std::string head;
    std::string body;

    std::string Header(std::string_view name) const {
      const size_t at = head.find("\r\n" + std::string(name) + ": ");
      if (at == std::string::npos) return "";
      const size_t start = at + name.size() + 4;
      return head.substr(start, head.find("\r\n", start) - start);
    }
  };
  // One answer with a Content-Length, or without a body.
  Reply ReadReply(bool head_request = false) {
    Reply reply;
    do {
      reply.head = ReadUntil("\r\n\r\n");
      if (reply.head.size() > 12) reply.status = std::atoi(reply.head.c_str() + 9);
    } while (reply.status == 102 && !reply.head.empty());
    const std::string length = reply.Header("Content-Length");
    if (!head_request && !length.empty()) reply.body = ReadBytes(std::stoul(length));
    return reply;
  }
  Reply Exchange(std::string_view request) {
    EXPECT_TRUE(Send(request));
    return ReadReply();
  }
  Reply Get(std::string_view path) {
    return Exchange("GET " + std::string(path) + " HTTP/1.1\r\nHost: t\r\n\r\n");
  }
};

// A running server with one listener.
class TestServer {
 public:
  explicit TestServer(Router router, const ServerOptions& options = {}, Filter* filter = nullptr,
                      RequestObserver* observer = nullptr, const net::ListenOptions& listen = {},
                      net::ServerOptions net_options = {}) {
    net_options.tick_ms = 5;
    net_ = std::make_unique<net::Server>(net_options, clock_);
    Server::Environment environment{.clock = clock_, .filter = filter};
    if (observer != nullptr) environment.observers.push_back(observer);
    server_ = std::make_unique<Server>(*net_, options, std::move(environment));
    const auto listener =
        server_->Listen(listen, std::make_shared<const Router>(std::move(router)));
    EXPECT_TRUE(listener.has_value()) << listener.error().ToString();
    port_ = listener->port;
    net_->Start();
  }
  TestServer(Router router, const net::ServerOptions& net_options, Filter* filter = nullptr)
      : TestServer(std::move(router), {}, filter, nullptr, {}, net_options) {}
  ~TestServer() { Stop(); }

  void Stop() { net_->Stop(); }
  void AwaitNoConnections() { net_->AwaitNoConnections(); }
  uint16_t port() const { return port_; }
  Server& server() { return *server_; }
  // Time stands still unless the test moves it.
  FakeClock& clock() { return clock_; }

 private:
  FakeClock clock_;
  std::unique_ptr<net::Server> net_;
  std::unique_ptr<Server> server_;
  uint16_t port_ = 0;
};

}  // namespace sluice::http
