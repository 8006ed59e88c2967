// Server: HTTP/1.1 on listeners of a net::Server.
//
//   net::Server net(net_options, clock);
//   Server server(net, options, {.clock = clock});
//   ASSIGN_OR_RETURN(Listener admin, server.Listen({.host = "127.0.0.1", .port = 0}, router));
//   net.Start();  ...  net.Stop();
//
// Listen is called by one thread, before the net::Server starts; SetRouter by any, until it stops.
// It has stopped before the server is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "http/request_parser.h"
#include "http/router.h"
#include "net/server.h"

namespace sluice::http {

struct ServerOptions {
  RequestLimits request = {};
  // The most memory of all requests' bodies together; further ones get 503.
  uint64_t max_bodies_bytes = 384 << 20;
  size_t max_websocket_message_bytes = 4 << 20;

  // A request's head must be complete this long after its first byte (408) ...
  uint64_t head_timeout_ms = 10'000;
  // ... and its body arrive at this rate after a time of grace (408).
  uint64_t body_grace_ms = 10'000;
  uint64_t body_min_bytes_per_s = 4 << 10;
  // A connection without a request is closed after this time.
  uint64_t idle_timeout_ms = 75'000;
  // The connection of a client that takes nothing of its answer for this time is closed.
  uint64_t write_stall_ms = 30'000;
  // How long bytes of the client are read and dropped after the last answer. Without that, closing
  // could destroy the answer before the client has read it.
  uint64_t linger_ms = 2'000;
};

// One answered (or abandoned) request, for the access log and metrics.
struct RequestRecord {
  const Request& request;
  const Route* route;  // null when none was found
  size_t listener;     // in the order of Listen
  int status;          // 101 for a WebSocket that has ended
  uint64_t response_bytes;
  uint64_t duration_ns;
  bool cancelled;  // the client left before the end
};

// Called on the I/O threads when a request has ended. Must be quick and never block.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  virtual void OnRequest(const RequestRecord& record) = 0;
};

// Runs before every route's handler, for authentication. Called on the I/O threads.
class Filter {
 public:
  enum class Verdict : uint8_t {
    kPass,      // go on to the handler
    kAnswered,  // the response is filled in; the handler does not run
    kLater,     // ask CheckLater
  };
  virtual ~Filter() = default;
  virtual Verdict Check(const Route& route, Request& request, Response& response) = 0;
  // For checks that take long, such as hashing a password on the worker pool. kPass or kAnswered.
  virtual Task<Verdict> CheckLater(const Route& route, Request& request, Response& response) = 0;
};

class Server {
 public:
  // All outlive the server; filter may be null.
  struct Environment {
    const Clock& clock;
    Filter* filter = nullptr;
    std::vector<RequestObserver*> observers = {};
  };

  Server(net::Server& net, const ServerOptions& options, Environment environment);
  ~Server();

  struct Listener {
    size_t index;
    uint16_t port;  // the bound one
  };
  // http.listen when the address can't be bound, http.tls when the certificate or key is not
  // usable.
  Result<Listener> Listen(const net::ListenOptions& options, std::shared_ptr<const Router> router);

  // Requests that begin after this returns may still be answered by the old router for a moment.
  void SetRouter(size_t listener, std::shared_ptr<const Router> router);

  size_t connections() const;
  // The memory that large bodies of requests take now.
  uint64_t body_bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::http
