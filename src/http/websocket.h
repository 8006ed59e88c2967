// WebSocket: what a route's websocket handler talks through. Messages whole, in order; pings, pongs
// and the closing handshake are taken care of. Used on the connection's thread.
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

  // What other threads send through, also while the handler waits in Read. Messages are queued; a
  // client that does not read so that too much waits is left. Does nothing once the socket is gone.
  class Sender {
   public:
    virtual ~Sender() = default;
    virtual void Send(std::string text) = 0;
    // When what is queued is sent, the handler's Read ends with http.websocket_closed.
    virtual void Close() = 0;
  };

  virtual ~WebSocket() = default;

  // The next message. http.websocket_closed when the client has closed or gone or sent more than
  // the limit, http.cancelled when the server stops: then finish.
  virtual Task<Result<Message>> Read() = 0;
  // Waits until the message has been handed to the kernel. One at a time; it may be awaited while
  // nothing reads.
  virtual Task<Status> Write(Message message) = 0;
  // A socket with a sender is not written to by the handler.
  virtual std::shared_ptr<Sender> MakeSender() = 0;

  // What the closing handshake says once the handler has returned; 1000 without a reason if not
  // set.
  virtual void SetClose(uint16_t code, std::string reason) = 0;
};

using WebSocketHandler = std::function<Task<>(Request&, WebSocket&)>;

}  // namespace sluice::http
