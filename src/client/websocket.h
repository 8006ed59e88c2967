// A WebSocket's client side: text messages, whole and in order. Pings are answered while a message
// is waited for. Opened by Client::OpenWebSocket.
//
// One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "client/client.h"
#include "client/stream.h"

namespace sluice::client {

class WebSocket {
 public:
  // Asks for the upgrade on a new connection. client.refused when the server answers otherwise:
  // `refusal` then has the answer.
  static Result<std::unique_ptr<WebSocket>> Open(std::unique_ptr<Stream> stream,
                                                 const std::string& host, const Request& request,
                                                 Response* refusal);
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  Status Send(std::string_view text);

  struct Patience {
    const std::atomic<bool>* interrupted = nullptr;  // client.interrupted when it becomes true
    uint64_t timeout_ms = 0;  // client.timeout after this time without a message; 0: no limit
  };
  // The next message. client.closed when the server has closed, with its reason; client.timeout
  // also when a server that should ping now and then did not.
  Result<std::string> Read(const Patience& patience);

  // Whether it can still be used, as far as is known without waiting. Answers pings that wait.
  bool Alive();

 private:
  enum Opcode : uint8_t { kContinuation = 0, kText = 1, kClose = 8, kPing = 9, kPong = 10 };
  struct Frame {
    bool last = true;
    uint8_t opcode = kText;
    std::string payload;
  };

  WebSocket(std::unique_ptr<Stream> stream, std::string buffer)
      : stream_(std::move(stream)), buffer_(std::move(buffer)) {}
  Status SendFrame(Opcode opcode, std::string_view payload);
  Result<Frame> ReadFrame();
  // Handles control frames: pings, and the close.
  Status HandleControl(const Frame& frame);
  Status Await(const Patience& patience);
  // Makes the buffer hold as much; gives it from there.
  Result<std::string> Take(size_t size);

  const std::unique_ptr<Stream> stream_;
  std::string buffer_;
  size_t taken_ = 0;     // of buffer_
  bool closed_ = false;  // the closing handshake has begun
};

}  // namespace sluice::client
