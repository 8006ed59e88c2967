// A TCP socket that belongs to its holder. Internal to client.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace sluice::client {

class Socket {
 public:
  // Tries each of the host's addresses.
  static Result<Socket> Connect(const std::string& host, uint16_t port, uint64_t timeout_ms);

  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  void SetTimeout(uint64_t timeout_ms);
  int fd() const { return fd_; }

  // As recv and send, without signals; -1 sets errno.
  ssize_t Receive(char* into, size_t size);
  ssize_t SendSome(std::string_view bytes);
  // What can be received without waiting.
  enum class Waiting : uint8_t { kNothing, kBytes, kEnd };
  Waiting Look();

 private:
  int fd_;
};

// The error of a request for an errno.
Status IoError(int error);

}  // namespace sluice::client
