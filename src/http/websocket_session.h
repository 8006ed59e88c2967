// The server's side of a WebSocket; hides Beast. Internal to http.
#pragma once

#include <functional>
#include <memory>

#include "http/websocket.h"
#include "net/exchange.h"
#include "net/transport.h"

namespace sluice::http {

class WebSocketSession : public WebSocket {
 public:
  // Called on the loop's thread. After on_closed the session may be destroyed, though not from
  // inside the call.
  struct Events {
    std::move_only_function<void(bool ok)> on_accepted;
    std::move_only_function<void()> on_closed;
  };

  // Answers the upgrade request. Ends with on_accepted; when not ok, Abort is next.
  virtual void Accept(const Request& request) = 0;
  // The handler has finished: the closing handshake. Ends with on_closed.
  virtual void Finish() = 0;
  // At once, without handshake. Ends with on_closed.
  virtual void Abort() = 0;
};

// Takes the transport's socket.
std::unique_ptr<WebSocketSession> MakeWebSocketSession(net::Transport* transport,
                                                       net::Exchange* exchange,
                                                       size_t max_message_bytes,
                                                       WebSocketSession::Events events);

}  // namespace sluice::http
