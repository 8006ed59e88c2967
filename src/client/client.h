// A blocking HTTP/1.1 client for the command line and for tests: one connection, kept between
// requests, plain or TLS.
//
//   ASSIGN_OR_RETURN(Client client, Client::Make("https://localhost:8091", options));
//   ASSIGN_OR_RETURN(Response reply, client.Send({.method = "GET", .path = "/v1/buckets"}));
//
// One thread at a time. A kept connection that the server has closed is opened again. When it turns
// out to be closed only after the request was sent, the request is repeated if that can do no harm:
// nothing was answered, the method is idempotent and there is no producer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace sluice::client {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct ClientOptions {
  uint64_t connect_timeout_ms = 10'000;
  // Longest silence of the server during a request.
  uint64_t io_timeout_ms = 60'000;
  std::string ca_file = {};  // PEM; the system's authorities when empty
  enum class Verify : uint8_t { kPeer, kNothing };
  Verify verify = Verify::kPeer;
};

// The next piece of a body; nothing at the end.
using Producer = std::function<Result<std::optional<std::string>>()>;
// Takes a piece of an answer's body. An error ends the request with that error.
using Consumer = std::function<Status(std::string_view)>;

struct Request {
  std::string method = "GET";
  std::string path = "/";  // with query, already encoded
  Headers headers = {};
  std::string body = {};
  Producer producer = {};  // instead of body: sent in chunks as it comes
  Consumer consumer = {};  // takes the body of a 2xx answer instead of Response::body
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};

  // Names compare without case; empty when absent.
  std::string_view Header(std::string_view name) const;
};

class WebSocket;  // websocket.h

class Client {
 public:
  // "http://host:port" or "https://host:port". client.bad_url.
  static Result<Client> Make(std::string_view url, ClientOptions options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  // Connects when needed. An answer of any status is a Response. client.bad_request,
  // client.connect, client.tls, client.timeout, client.broken (the server closed, or its answer is
  // not HTTP), client.too_large, or the producer's or consumer's own error.
  Result<Response> Send(const Request& request);
  // On a connection of its own. Only path and headers of the request are used. client.refused if
  // the server does not upgrade: `refusal` then has its answer.
  Result<std::unique_ptr<WebSocket>> OpenWebSocket(const Request& request, Response* refusal);
  void Close();
  // Makes the Send that waits for the server fail with client.broken. A signal handler in the
  // sending thread may call it; nothing happens when nothing is sent.
  void Interrupt();

  const std::string& host() const;
  uint16_t port() const;

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::client
