// For tests: an HTTP server that answers each request with the bytes that a function returns for
// it; one request for each connection.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/locked.h"

namespace sluice::function {

class TestServer {
 public:
  using Answer = std::function<std::string(const std::string& request)>;

  explicit TestServer(Answer answer) : answer_(std::move(answer)) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    CHECK(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    CHECK(::listen(fd_, 16) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Loop(); });
  }
  ~TestServer() {
    ::shutdown(fd_, SHUT_RDWR);  // ends accept
    thread_.join();
    ::close(fd_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<std::string> requests() const { return requests_.Copy(); }
  std::string last() const {
    const auto requests = requests_.Lock();
    return requests->empty() ? "" : requests->back();
  }

 private:
  static bool WaitFor(int fd, int wait_ms) {
    pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&waited, 1, wait_ms) == 1;
  }

  void Loop() {
    while (true) {
      const int connection = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      const std::string request = Read(connection);
      requests_.Lock()->push_back(request);
      Write(connection, answer_(request));
      ::close(connection);
    }
  }

  static size_t BodySize(const std::string& head) {
    const size_t at = head.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
  }

  // Head and body.
  static std::string Read(int connection) {
    std::string text;
    char buffer[4096];
    while (true) {
      const size_t end = text.find("\r\n\r\n");
      if (end != std::string::npos && text.size() >= end + 4 + BodySize(text.substr(0, end))) {
        return text;
      }
      if (!WaitFor(connection, 5000)) return text;
      const ssize_t got = ::read(connection, buffer, sizeof(buffer));
      if (got <= 0) return text;
      text.append(buffer, static_cast<size_t>(got));
    }
  }

  static void Write(int connection, const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const ssize_t put = ::send(connection, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (put <= 0) return;
      at += static_cast<size_t>(put);
    }
  }

  const Answer answer_;
  int fd_ = -1;
  uint16_t port_ = 0;
  Locked<std::vector<std::string>> requests_;
  std::thread thread_;
};

// A response with a body.
inline std::string Respond(const std::string& head, const std::string& body) {
  return "HTTP/1.1 " + head +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

}  // namespace sluice::function
