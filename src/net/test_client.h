// For tests: a blocking TCP client that sends exactly the bytes it is told to. A wait that takes
// longer than kPatienceSeconds fails the test.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signal.h"

namespace sluice::net {

constexpr int kPatienceSeconds = 60;

class RawClient {
 public:
  explicit RawClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~RawClient() { Close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  int fd() const { return fd_; }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void EndSending() { ::shutdown(fd_, SHUT_WR); }

  // False when the server no longer takes it.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Reads until the text has come; returns everything up to and with it.
  std::string ReadUntil(std::string_view text) {
    size_t at;
    while ((at = received_.find(text)) == std::string::npos) {
      if (!Receive()) return TakeReceived(received_.size());
    }
    return TakeReceived(at + text.size());
  }

  std::string ReadBytes(size_t size) {
    while (received_.size() < size && Receive()) {
    }
    return TakeReceived(std::min(size, received_.size()));
  }

  // Everything until the server closes.
  std::string ReadAll() {
    while (Receive()) {
    }
    return TakeReceived(received_.size());
  }

 private:
  bool Receive() {
    char buffer[16384];
    const ssize_t got = ::recv(fd_, buffer, sizeof(buffer), 0);
    EXPECT_FALSE(got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) << "the server is silent";
    if (got <= 0) return false;
    received_.append(buffer, static_cast<size_t>(got));
    return true;
  }
  std::string TakeReceived(size_t size) {
    std::string taken = received_.substr(0, size);
    received_.erase(0, size);
    return taken;
  }

  int fd_;
  std::string received_;
};

// Moves a server's clock on by a second every few milliseconds while it lives: for a test of a time
// limit, however late the server notices that the time has begun.
class PassingTime {
 public:
  explicit PassingTime(FakeClock* clock)
      : thread_([this, clock] {
          do {
            clock->AdvanceMs(1000);
          } while (end_.Wait(0, MachineClock().Now() + kStep) == Signal::Waited::kTimeout);
        }) {}
  ~PassingTime() {
    end_.Close();
    thread_.join();
  }

 private:
  static constexpr std::chrono::milliseconds kStep{5};
  Signal end_;
  std::thread thread_;
};

}  // namespace sluice::net
