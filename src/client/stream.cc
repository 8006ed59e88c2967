#include "client/stream.h"

#include <cerrno>

#include "client/socket.h"
#include "client/tls_stream.h"

namespace sluice::client {
namespace {

class PlainStream final : public Stream {
 public:
  explicit PlainStream(Socket socket) : socket_(std::move(socket)) {}

  Result<size_t> Read(char* into, size_t size) override {
    const ssize_t got = socket_.Receive(into, size);
    if (got < 0) return Unexpected(IoError(errno));
    return static_cast<size_t>(got);
  }
  Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t sent = socket_.SendSome(bytes);
      if (sent < 0) return IoError(errno);
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return OkStatus();
  }
  bool Stale() override { return socket_.Look() != Socket::Waiting::kNothing; }
  int fd() const override { return socket_.fd(); }

 private:
  Socket socket_;
};

}  // namespace

Result<std::unique_ptr<Stream>> Connect(const Endpoint& endpoint, const ClientOptions& options) {
  ASSIGN_OR_RETURN(Socket socket,
                   Socket::Connect(endpoint.host, endpoint.port, options.connect_timeout_ms));
  socket.SetTimeout(options.io_timeout_ms);
  if (endpoint.security == Endpoint::Security::kTls) {
    return ConnectTls(std::move(socket), endpoint.host, options);
  }
  return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace sluice::client
