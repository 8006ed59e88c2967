// WebSocket: the connection of a route's websocket handler. It gives and takes whole messages, in
// order, and does pings, pongs and the closing handshake by itself. Used on the connection's
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "http/request.h"
#include "net/task.h"

namespace sluice::http {

using net::Task;

class WebSocket {
 public:
  struct Message {
    std::string data;
    bool binary = false;
  };

  // Lets other threads send, also while the handler waits in Read. Messages are queued. When too
  // much waits because the client does not read, the connection is closed. Does nothing once the
  // socket is gone.
  class Sender {
   public:
    virtual ~Sender() = default;
    virtual void Send(std::string text) = 0;
    // When all queued messages have been sent, the handler's Read ends with http.websocket_closed.
    virtual void Close() = 0;
  };

  virtual ~WebSocket() = default;

  // The next message. http.websocket_closed when the client has closed or gone or sent more than
  // the limit, http.cancelled when the server stops: then finish.
  virtual Task<Result<Message>> Read() = 0;
  // Waits until the message has been handed to the kernel. One at a time; it may be awaited while
  // nothing reads.
  virtual Task<Status> Write(Message message) = 0;
  // The handler of a socket with a sender must not write to it.
  virtual std::shared_ptr<Sender> MakeSender() = 0;

  // The code and reason of the closing handshake after the handler has returned; without a call:
  // 1000 and no reason.
  virtual void SetClose(uint16_t code, std::string reason) = 0;
};

using WebSocketHandler = std::function<Task<>(Request&, WebSocket&)>;

}  // namespace sluice::http
