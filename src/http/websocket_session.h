// The server's side of a WebSocket, behind which Beast is hidden. Internal to http.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "http/exchange.h"
#include "http/transport.h"
#include "http/websocket.h"

namespace sluice::http {

class WebSocketSession : public WebSocket {
 public:
  // Called on the loop's thread. After on_closed nothing refers to the session any more.
  struct Events {
    std::move_only_function<void(bool ok)> on_accepted;
    std::move_only_function<void()> on_closed;
  };

  // Answers the upgrade request whose bytes, with what came after, are `received`. Ends with
  // on_accepted.
  virtual void Accept(std::string_view received) = 0;
  // The handler has finished: the closing handshake. Ends with on_closed.
  virtual void Finish() = 0;
  // At once, without handshake. Ends with on_closed.
  virtual void Abort() = 0;
};

// Takes the transport's socket.
std::unique_ptr<WebSocketSession> MakeWebSocketSession(Transport* transport, Exchange* exchange,
                                                       size_t max_message_bytes,
                                                       WebSocketSession::Events events);

}  // namespace sluice::http
