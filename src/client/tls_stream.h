// TLS over a socket by OpenSSL. Internal to client.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "client/client.h"
#include "client/socket.h"
#include "client/stream.h"

namespace sluice::client {

// The handshake, with the certificate checked against the host's name unless options say otherwise.
Result<std::unique_ptr<Stream>> ConnectTls(Socket socket, const std::string& host,
                                           const ClientOptions& options);

}  // namespace sluice::client
