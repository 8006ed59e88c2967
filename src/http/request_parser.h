// Bytes to Request: HTTP/1.0 and 1.1 messages by http_parser, plus the checks that keep a message's
// end beyond doubt (request smuggling) and within limits. Knows no sockets.
//
// The caller keeps a message's head contiguous and passes its start each time, which may move
// between calls; body bytes are copied into the request as they come. Belongs to one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <http_parser.h>

#include "base/status.h"
#include "http/request.h"

namespace sluice::http {

struct RequestLimits {
  // Request line and headers together; more is answered with 431. At most kMostHeadBytes.
  size_t max_head_bytes = 32 << 10;
  size_t max_headers = 128;
  // More is answered with 413, before the body is read when Content-Length says so.
  size_t max_body_bytes = 24 << 20;
  // The most bytes of a body that its route lets go to disk, in that directory; 0: none may.
  uint64_t max_spooled_bytes = 0;
  std::string spool_directory = {};

  static constexpr size_t kMostHeadBytes = 64 << 10;  // below http_parser's own bound
};

// Makes identifiers for requests that bring none: unique in practice, not secret. One thread.
class RequestIds {
 public:
  explicit RequestIds(uint64_t seed) : state_(seed) {}
  void Next(std::string* out);

 private:
  uint64_t state_;
};

class RequestParser {
 public:
  enum class State : uint8_t { kHead, kBody, kComplete, kFailed };

  // `request` is filled as parsing goes on. Everything passed outlives the parser; `exchange` may
  // be null where no handler waits.
  RequestParser(const RequestLimits& limits, Request* request, const std::string* remote,
                net::Exchange* exchange);

  // Starts the next message.
  void Reset();

  // Parses message[from, size), where `message` is where this message began, and returns the offset
  // up to which it has consumed. That is `size` unless the message is complete (what follows is the
  // next one) or refused.
  size_t Feed(const char* message, size_t from, size_t size);

  // While kBody or after kComplete: sets the request's views, which point into `message`. Fails on
  // a target that can't be understood.
  Status Finish(const char* message, uint64_t arrival_ns, RequestIds* ids);
  // After a Finish while kBody: clears the views that it has set; the message's bytes may move now.
  void Unfinish();
  // After a Finish while kBody: a body of more than `above` bytes goes to disk, if its size is
  // allowed there.
  void AllowSpool(size_t above);
  // The same for a body that came with its head and is in memory.
  Status SpoolWhole(size_t above);
  // The error of a head that announces a body that is too large.
  bool IsBodyTooLarge() const;
  Status BodyTooLarge() const;
  // After kFailed, instead of Finish: sets the parts of the request that an answer needs.
  void FinishRefused(uint64_t arrival_ns, RequestIds* ids);

  State state() const { return state_; }
  // While kBody: the bytes of the message that Finish will look at; those after it may be reused.
  size_t retained() const { return retained_; }
  bool expects_continue() const { return expects_continue_; }
  bool keep_alive() const { return keep_alive_; }
  // "Connection: upgrade" and "Upgrade: websocket".
  bool wants_websocket() const { return wants_websocket_; }

  // After kFailed: why, and the HTTP status to answer with.
  const Status& error() const { return error_; }
  int error_status() const { return error_status_; }

 private:
  struct Span {
    uint32_t offset = 0;
    uint32_t size = 0;
  };
  struct HeaderSpan {
    Span name;
    Span value;
  };
  struct Callbacks;

  void Execute(const char* message, size_t from, size_t to, size_t* consumed);
  int Extend(Span* span, const char* at, size_t size);
  int OnHeadComplete();
  bool CheckHead();
  bool CheckFraming(int lengths, int encodings, std::string_view encoding);
  bool CheckBodySize();
  uint64_t MostBody() const;
  int AddBody(std::string_view bytes);
  int Spool(std::string_view bytes);
  int Refuse(int http_status, Status error);
  std::string_view Text(Span span) const { return {message_ + span.offset, span.size}; }
  Status SetTarget(std::string_view target);

  const RequestLimits& limits_;
  Request* const request_;
  http_parser parser_;
  const char* message_ = nullptr;  // only during Feed and Finish

  State state_ = State::kHead;
  Span target_;
  std::vector<HeaderSpan> headers_;
  bool in_value_ = true;  // the last fragment was of a value
  size_t retained_ = 0;
  uint64_t declared_ = UINT64_MAX;  // Content-Length; UINT64_MAX: there is none
  std::optional<size_t> spool_above_;
  bool expects_continue_ = false;
  bool keep_alive_ = false;
  bool wants_websocket_ = false;
  Status error_;
  int error_status_ = 0;
};

}  // namespace sluice::http
