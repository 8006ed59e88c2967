// One client's HTTP/1.1 connection. Internal to http; lives on one loop's thread.
//
// Operation. Requests are answered one at a time, in order. Requests that a client sends ahead
// (pipelining) wait in the buffer, and their answers are written together. While a handler waits, a
// read stays open, so that the connection notices when the client leaves.
//
//   kStarting -> kReading <-> kHandling       kReading, kHandling -> kFinishing -> kLingering
//   kHandling -> kUpgraded                    any -> kClosed
//
// Lifetime. As net/connection.h has it: it ends when it is closed, no operation runs and no handler
// waits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/listener.h"
#include "http/message_check.h"
#include "http/request_parser.h"
#include "http/response.h"
#include "http/router.h"
#include "http/server_context.h"
#include "http/websocket_session.h"
#include "net/connection.h"
#include "net/io_loop.h"

namespace sluice::http {

class Connection final : public net::Connection, public StreamSink {
 public:
  Connection(net::IoLoop& loop, HttpListener& listener, std::string remote,
             net::Admission admission);
  ~Connection() override;

  void Tick(uint64_t now_ns) override;
  void Drain() override;  // no new request after the current one

  // StreamSink
  const std::shared_ptr<net::Loop>& loop() const override { return loop_handle_; }
  Pool& workers() const override { return *io().server().workers; }
  Accepted StreamChunk(std::string_view chunk) override;
  void AwaitDrained(std::coroutine_handle<> handle) override { drained_ = handle; }
  void SetHeartbeat(uint64_t interval_ms, std::string comment) override;

 private:
  // net::Connection
  void Opened() override;
  void OnReadEnd(ReadEnd end, size_t size) override;
  void OnWriting() override;
  void OnWriteEnd(bool ok) override;
  void OnClose() override;
  bool CanEnd() const override;

  enum class State : uint8_t {
    kStarting,
    kReading,
    kHandling,
    kFinishing,  // the last answer is being written
    kLingering,  // the last answer has been written; bytes that still come are dropped
    kUpgraded,
    kClosed,
  };

  // connection.cc: bytes and time
  void Process();
  bool ParseRequest();
  bool FeedParser();
  bool CountBody();
  void UncountBody();
  void DropBodyBytes();
  void NextMessage();
  void PrepareBuffer();
  void ContinueReading();
  void Flush();
  void OnFlushed();
  void WriteFailed();
  void Linger();
  void EndedByClient(ReadEnd end);
  void Reset();  // closes so that the client sees that the answer is not complete
  void CheckReading(uint64_t waited_ms);
  void ProbeClient();
  void CheckStream(uint64_t unsent_ms);
  bool HasLostRights(uint64_t now_ns) const;
  bool output_full() const;
  bool idle() const { return state_ == State::kReading && begin_ == end_ && !message_begun_; }

  // connection_handle.cc: requests and answers
  // Whether the request is there as a whole, or only its head and a part of its body.
  enum class Extent : uint8_t { kWhole, kHead };
  void Dispatch(Extent extent);
  void Passed();
  bool SpoolBody();
  void AwaitBody();
  void AnswerUnrouted(const Router::Match& match);
  void RunHandler();
  void StartTask(Task<> task);
  Task<> FilterThenHandle();
  void FinishTask();
  void Refuse(int http_status, const Status& error);
  void Respond();
  void RespondWhole();
  void EndStream();
  void BeginStream();
  void Observe();
  void Upgrade();
  void OnUpgraded(bool ok);
  void OnWebSocketClosed();
  Response::HeadContext Head(Response::Framing framing, uint64_t now_ns);

  // Exchange
  void OnSuspend() override { Flush(); }
  void OnResumed() override;

  const std::shared_ptr<net::Loop> loop_handle_;
  HttpListener& listener_;
  ServerContext& server_;
  LoopContext& shared_;  // with the other connections of the loop
  const net::Admission admission_;
  State state_ = State::kStarting;

  // Input: buffer_[begin_, end_) is the current message and what follows; parsed_ of it is
  // consumed. Grows and moves only between requests, because the request's views point into it.
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t parsed_ = 0;
  size_t end_ = 0;
  bool reading_ = false;
  bool message_begun_ = false;
  bool client_ended_ = false;  // nothing more will be read
  bool processing_ = false;    // Process is on the stack

  // Output: out_ is filled while sending_ and sending_body_ are written.
  std::string out_;
  std::string out_body_;  // a large body, sent after out_ without being copied into it
  std::string sending_;
  std::string sending_body_;
  bool writing_ = false;

  // Times, monotonic.
  uint64_t since_ns_ = 0;  // when the state's current wait began: idle, head, body, linger
  uint64_t last_write_ns_ = 0;

  // The current request.
  Request request_;
  Response response_;
  RequestParser parser_;
  MessageCheck check_;
  uint64_t counted_ = 0;  // bytes of the body that ServerContext::bodies has counted
  std::shared_ptr<const Router> router_;
  const Route* route_ = nullptr;
  Extent extent_ = Extent::kWhole;
  Task<> task_;
  std::coroutine_handle<> drained_;
  bool close_after_ = false;
  bool streaming_ = false;
  bool chunked_ = false;
  uint64_t streamed_bytes_ = 0;
  uint64_t heartbeat_ns_ = 0;  // 0: none
  std::string heartbeat_;
  bool passed_later_ = false;  // CheckLater has passed a request whose handler is no coroutine
  std::unique_ptr<WebSocketSession> websocket_;
  bool websocket_closed_ = false;
};

}  // namespace sluice::http
