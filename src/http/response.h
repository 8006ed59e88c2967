// A handler's answer: either one body, sent when the handler has finished, or a stream of chunks
// sent as they are written. Belongs to its connection, used on the connection's thread (or by a
// worker that the handler waits for, except Write).
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/exchange.h"

namespace sluice::http {

// Where streamed chunks go; the connection.
class StreamSink : public net::Exchange {
 public:
  enum class Accepted : uint8_t {
    kYes,   // taken; go on
    kFull,  // taken, but the client is slow: wait with AwaitDrained before the next
    kGone,  // not taken: nobody reads any more
  };
  virtual Accepted StreamChunk(std::string_view chunk) = 0;
  // Resumes `handle` when the streamed chunks have been sent.
  virtual void AwaitDrained(std::coroutine_handle<> handle) = 0;
  // Sends `comment` whenever nothing else has been sent for that time.
  virtual void SetHeartbeat(uint64_t interval_ms, std::string comment) = 0;
};

class Response {
 public:
  // Replies with a whole body.
  void Json(int status, std::string text) { Body(status, "application/json", std::move(text)); }
  void Text(int status, std::string text);
  void Body(int status, std::string_view content_type, std::string bytes);
  void NoContent(int status = 204);
  // The one error shape; the HTTP status is the code's unless given. kOverloaded adds Retry-After.
  void Error(const Status& error);
  void Error(int http_status, const Status& error);
  // Fills in the answer to an error in another shape, for interfaces that have one.
  using ErrorAnswer = void (*)(Response& response, int http_status, const Status& error);

  void set_status(int status) { status_ = status; }
  int status() const { return status_; }
  // Replaces line breaks in the value by spaces. Content-Length, Transfer-Encoding, Connection,
  // Date and X-Request-Id are the server's own.
  void AddHeader(std::string_view name, std::string_view value);
  // The Content-Length of an answer to HEAD, which has no body; without a value there is no header.
  void set_head_length(std::optional<uint64_t> length) {
    knows_head_length_ = true;
    head_length_ = length;
  }
  void set_content_type(std::string_view type) { content_type_ = type; }
  const std::string& body() const { return body_; }

  // Streams: set the status and headers, then
  //   Status sent = co_await response.Write(chunk);
  // The first Write sends the head. The wait ends when there is room for more; not ok means that
  // nobody reads any more (http.cancelled): finish. Chunks written between two waits are sent
  // together.
  class WriteAwaiter;
  WriteAwaiter Write(std::string_view chunk);
  // Ends the stream so that the client can tell that it is not complete.
  void Abort() { aborted_ = true; }
  // The same, and logs the reason, since the client can no longer get it.
  void Abort(const Status& error);
  bool aborted() const { return aborted_; }

  // The connection's side.
  void Reset(StreamSink* sink, std::string_view request_id);
  void set_error_answer(ErrorAnswer answer) { error_answer_ = answer; }
  StreamSink* sink() { return sink_; }

  enum class Framing : uint8_t { kLength, kChunked, kUntilClose };
  struct HeadContext {
    std::string_view date;
    bool close = false;
    bool keep_alive_1_0 = false;  // tell an HTTP/1.0 client that its connection stays open
    Framing framing = Framing::kLength;
  };
  // Appends status line and headers, with the empty line.
  void AppendHead(const HeadContext& context, std::string* out) const;
  // Whether this status never has a body.
  bool bodiless() const { return status_ == 204 || status_ == 304 || status_ < 200; }
  std::string TakeBody() { return std::move(body_); }

 private:
  void LogFailure(const Status& error) const;

  int status_ = 200;
  bool knows_head_length_ = false;
  std::optional<uint64_t> head_length_;
  bool aborted_ = false;
  std::string content_type_;
  std::string headers_;  // "Name: value\r\n"...
  std::string body_;
  std::string_view request_id_;
  ErrorAnswer error_answer_ = nullptr;
  StreamSink* sink_ = nullptr;
};

class Response::WriteAwaiter final : public net::Waiter {
 public:
  WriteAwaiter(StreamSink* sink, std::string_view chunk) : sink_(sink), chunk_(chunk) {}

  bool await_ready() {
    accepted_ = sink_->StreamChunk(chunk_);
    return accepted_ != StreamSink::Accepted::kFull;
  }
  bool await_suspend(std::coroutine_handle<> handle) {
    handle_ = handle;
    if (!sink_->Suspend(this)) return false;
    sink_->AwaitDrained(handle);
    return true;
  }
  Status await_resume() const {
    const bool gone = accepted_ == StreamSink::Accepted::kGone || sink_->cancelled();
    return gone ? net::CancelledError() : OkStatus();
  }
  void OnCancel() override {
    sink_->AwaitDrained(nullptr);
    sink_->Resume(handle_);
  }

 private:
  StreamSink* sink_;
  std::string_view chunk_;
  StreamSink::Accepted accepted_ = StreamSink::Accepted::kYes;
  std::coroutine_handle<> handle_;
};

inline Response::WriteAwaiter Response::Write(std::string_view chunk) {
  return WriteAwaiter(sink_, chunk);
}

}  // namespace sluice::http
