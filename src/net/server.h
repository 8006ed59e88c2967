// Server: listeners, I/O loops and workers, for any number of protocols. A connection stays on the
// loop it was given to.
//
//   Server server(options, clock);
//   ASSIGN_OR_RETURN(uint16_t port, server.Listen({.host = "127.0.0.1", .port = 0}, protocol));
//   server.Start();  ...  server.Stop();
//
// One thread calls Listen, Start and Stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/status.h"

namespace sluice::net {

class IoLoop;
class Protocol;

struct ServerOptions {
  size_t io_threads = 2;
  size_t worker_threads = 4;
  size_t worker_queue = 1024;
  // Of all listeners together. Further clients are refused.
  size_t max_connections = 10'000;
  // Requests that are in flight when the server stops may take this long.
  uint64_t drain_ms = 10'000;
  // How often connections look at their time limits; the only timer of an I/O thread.
  uint64_t tick_ms = 250;
};

struct TlsOptions {
  std::string certificate_file;  // PEM, the chain
  std::string key_file;          // PEM
};

struct ListenOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;  // 0 picks a free one
  std::optional<TlsOptions> tls = std::nullopt;
};

class Server {
 public:
  // The clock outlives the server.
  Server(const ServerOptions& options, const Clock& clock);
  ~Server();  // stops

  // Before Start. Returns the port. http.listen when the address can't be bound, http.tls when the
  // certificate or key is not usable. The protocol lives until Stop has returned.
  Result<uint16_t> Listen(const ListenOptions& options, Protocol& protocol);

  void Start();
  // Stops accepting, closes idle connections, answers requests in flight, closes all connections
  // after drain_ms, waits for blocking work. Jobs of loops (exchange.h) may still run until the
  // server is destroyed.
  void Stop();

  // Between Start and Stop, any thread: runs it on the thread of each loop, at some time.
  void PostToLoops(std::function<void(IoLoop&)> run);

  size_t loops() const;
  size_t connections() const;
  // Waits until all clients have left.
  void AwaitNoConnections();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::net
