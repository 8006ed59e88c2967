// A blocking connection with time limits, plain or TLS. Internal to client.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "client/client.h"

namespace sluice::client {

struct Endpoint {
  std::string host;
  uint16_t port = 0;
  enum class Security : uint8_t { kPlain, kTls };
  Security security = Security::kPlain;
};

class Stream {
 public:
  virtual ~Stream() = default;
  // At most `size` bytes; 0 when the server has closed.
  virtual Result<size_t> Read(char* into, size_t size) = 0;
  virtual Status Write(std::string_view bytes) = 0;
  // Whether bytes have been received that Read has not given yet.
  virtual bool HasPending() const { return false; }
  // Whether the server has closed the connection, or sent unexpected bytes. Does not wait.
  virtual bool Stale() = 0;
  // For Client::Interrupt.
  virtual int fd() const = 0;
};

Result<std::unique_ptr<Stream>> Connect(const Endpoint& endpoint, const ClientOptions& options);

}  // namespace sluice::client
