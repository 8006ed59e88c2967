#include "client/socket.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace sluice::client {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

}  // namespace

Result<Socket> Socket::Connect(const std::string& host, uint16_t port, uint64_t timeout_ms) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(list);
  if (failed != 0) {
    return Fail(Code::kUnavailable, "client.connect", "can't find '{}': {}", host,
                gai_strerror(failed));
  }
  int error = 0;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (socket.fd() < 0) {
      error = errno;
      continue;
    }
    socket.SetTimeout(timeout_ms);  // Linux applies it to connect, too
    if (::connect(socket.fd(), at->ai_addr, at->ai_addrlen) == 0) {
      const int on = 1;
      ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      return socket;
    }
    error = errno == EINPROGRESS ? ETIMEDOUT : errno;
  }
  return Fail(Code::kUnavailable, "client.connect", "can't connect to {}:{}: {}", host, port,
              std::strerror(error));
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

void Socket::SetTimeout(uint64_t timeout_ms) {
  const timeval time{.tv_sec = static_cast<time_t>(timeout_ms / 1000),
                     .tv_usec = static_cast<suseconds_t>(timeout_ms % 1000 * 1000)};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

ssize_t Socket::Receive(char* into, size_t size) {
  ssize_t got;
  do {
    got = ::recv(fd_, into, size, 0);
  } while (got < 0 && errno == EINTR);
  return got;
}

ssize_t Socket::SendSome(std::string_view bytes) {
  ssize_t sent;
  do {
    sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

Socket::Waiting Socket::Look() {
  char byte;
  const ssize_t got = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return Waiting::kBytes;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Waiting::kNothing : Waiting::kEnd;
}

Status IoError(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK) {
    return Error(Code::kTimeout, "client.timeout", "the server took too long to answer");
  }
  return Error(Code::kUnavailable, "client.broken", "the connection broke: {}",
               std::strerror(error));
}

}  // namespace sluice::client
