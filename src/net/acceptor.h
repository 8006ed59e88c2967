// One listening socket. Lives on the first loop and hands its connections to all loops in turn.
// Internal to net.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/status.h"
#include "net/connection.h"
#include "net/io_loop.h"
#include "net/server.h"
#include "net/transport.h"

namespace sluice::net {

class Acceptor {
 public:
  // `protocol` makes the connections.
  Acceptor(const std::vector<std::shared_ptr<IoLoop>>& loops, Protocol& protocol);

  Status Open(const ListenOptions& options);
  uint16_t port() const { return port_; }

  // On the first loop's thread, or before it runs.
  void Start();
  void Close();

 private:
  Status Bind(const ListenOptions& options);
  Status LoadTls(const TlsOptions& options);
  void Accept();
  void OnAccepted(TcpSocket socket);
  void HandOver(IoLoop* loop, TcpSocket socket);
  void OnError(const boost::system::error_code& error);

  const std::vector<std::shared_ptr<IoLoop>>& loops_;
  Protocol& protocol_;
  ServerContext& server_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      acceptor_;
  boost::asio::steady_timer retry_;
  std::optional<boost::asio::ssl::context> tls_;
  uint16_t port_ = 0;
  size_t next_loop_ = 0;
  bool failing_ = false;  // the last accept failed; a row of failures is logged once
};

}  // namespace sluice::net
