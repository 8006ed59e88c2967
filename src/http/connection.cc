// Bytes in, bytes out, and time limits. connection_handle.cc has the way from a request to its
// answer.
#include "http/connection.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace sluice::http {
namespace {

constexpr size_t kFirstBuffer = 4 << 10;
constexpr size_t kBodyBuffer = 64 << 10;
// A buffer larger than this, for input or output, is not kept by an idle connection.
constexpr size_t kMaxKeptBuffer = 64 << 10;
// With this much output waiting, no further pipelined request is answered and a stream's writer
// waits.
constexpr size_t kMaxUnsent = 64 << 10;
constexpr uint64_t kNsPerMs = 1'000'000;
// What takes no longer ends as it began, whatever it does to the rights of its own sender.
constexpr uint64_t kShortRequestMs = 1000;

void Recycle(std::string* buffer) {
  buffer->clear();
  if (buffer->capacity() > kMaxKeptBuffer) *buffer = std::string();
}

}  // namespace

Connection::Connection(net::IoLoop& loop, HttpListener& listener, std::string remote,
                       net::Admission admission)
    : net::Connection(loop, std::move(remote)),
      loop_handle_(loop.shared_from_this()),
      listener_(listener),
      server_(listener.server()),
      shared_(*server_.loops[loop.index()]),
      admission_(admission),
      since_ns_(server_.now_ns()),
      last_write_ns_(since_ns_),
      parser_(server_.options.request, &request_, &net::Connection::remote(), this) {
  ++server_.connections;
}

Connection::~Connection() {
  UncountBody();
  --server_.connections;
}

void Connection::Opened() {
  state_ = State::kReading;
  if (admission_ == net::Admission::kRefused) {
    Refuse(503, Error(Code::kOverloaded, "http.too_many_connections",
                      "the server has {} connections, its limit",
                      io().server().options.max_connections));
  }
  Process();
}

// Answers all requests that are in the buffer, writes the answers together, reads on.
void Connection::Process() {
  if (processing_) return;
  processing_ = true;
  bool was_full;
  do {
    while (state_ == State::kReading && !output_full() && ParseRequest()) Dispatch(Extent::kWhole);
    was_full = output_full();
    Flush();
  } while (was_full && !output_full() && state_ == State::kReading);
  if (state_ == State::kReading && client_ended_ && !was_full) {
    state_ = State::kFinishing;  // the rest of the buffer is not a whole request
    Flush();
  }
  processing_ = false;
  ContinueReading();
  MaybeEnd();
}

bool Connection::output_full() const {
  return !out_body_.empty() || (writing_ && out_.size() >= kMaxUnsent);
}

// True when the buffer has a whole request.
bool Connection::ParseRequest() {
  if (begin_ + parsed_ == end_) return false;
  if (!message_begun_) {
    message_begun_ = true;
    since_ns_ = server_.now_ns();
  }
  const bool in_body = parser_.state() == RequestParser::State::kBody;
  if (!FeedParser() || !CountBody()) return false;
  switch (parser_.state()) {
    case RequestParser::State::kHead:
      return false;
    case RequestParser::State::kBody:
      if (in_body) {
        DropBodyBytes();
      } else {
        Dispatch(Extent::kHead);
      }
      return false;
    case RequestParser::State::kComplete:
      if (begin_ + parsed_ == end_) DropBodyBytes();
      return true;
    case RequestParser::State::kFailed:
      Refuse(parser_.error_status(), parser_.error());
      return false;
  }
  return false;
}

// False: the message is malformed, and has been refused.
bool Connection::FeedParser() {
  using State = RequestParser::State;
  const char* const message = buffer_.get() + begin_;
  const size_t size = end_ - begin_;
  while (parsed_ < size && (parser_.state() == State::kHead || parser_.state() == State::kBody)) {
    const size_t good = check_.Good(message, parsed_, size);
    if (good == parsed_) {
      Refuse(400, Error(Code::kInvalidArgument, "http.malformed",
                        "not an HTTP request: lines and chunks end with CRLF"));
      return false;
    }
    parsed_ = parser_.Feed(message, parsed_, good);
  }
  return true;
}

// False: all bodies together take too much, and this one has been refused.
bool Connection::CountBody() {
  const uint64_t size = request_.body().size();
  if (size <= BodyMemory::kUncounted || size <= counted_) return true;
  if (server_.bodies.TryTake(size - counted_)) {
    counted_ = size;
    return true;
  }
  Refuse(503, Error(Code::kOverloaded, "http.bodies_full",
                    "the bodies of all requests take the {} bytes that they may together "
                    "(http.max_bodies): try again",
                    server_.bodies.most()));
  return false;
}

void Connection::UncountBody() { server_.bodies.GiveBack(std::exchange(counted_, 0)); }

// The body has been copied; its place in the buffer is free again.
void Connection::DropBodyBytes() {
  if (reading_) return;  // a read into the place after it is open
  parsed_ = parser_.retained();
  end_ = begin_ + parsed_;
}

// After an answer: the next message begins with the rest of the buffer.
void Connection::NextMessage() {
  begin_ += parsed_;
  parsed_ = 0;
  message_begun_ = false;
  parser_.Reset();
  check_.Reset();
  UncountBody();
}

// Makes room for the next read. Between requests only, so nothing points into the buffer.
void Connection::PrepareBuffer() {
  const bool in_body = parser_.state() == RequestParser::State::kBody;
  if (begin_ == end_) begin_ = end_ = 0;
  size_t wanted = in_body ? kBodyBuffer + parser_.retained() : kFirstBuffer;
  if (begin_ > 0 && (end_ == capacity_ || wanted > capacity_)) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == capacity_) wanted = std::max(wanted, 2 * capacity_);
  const bool shrink = capacity_ > kMaxKeptBuffer && end_ == 0 && !in_body;
  if (wanted <= capacity_ && !shrink) return;
  auto grown = std::make_unique_for_overwrite<char[]>(wanted);
  if (end_ > 0) std::memcpy(grown.get(), buffer_.get(), end_);
  buffer_ = std::move(grown);
  capacity_ = wanted;
}

void Connection::ContinueReading() {
  if (reading_ || client_ended_ || state_ == State::kClosed) return;
  if (state_ == State::kReading) {
    if (output_full()) return;  // the client must first take its answers
    PrepareBuffer();
  } else if (state_ == State::kLingering) {
    begin_ = parsed_ = end_ = 0;
    if (capacity_ == 0) PrepareBuffer();
  } else if (state_ != State::kHandling || end_ == capacity_ || parser_.wants_websocket()) {
    return;
  }
  reading_ = true;
  BeginRead(buffer_.get() + end_, capacity_ - end_);
}

void Connection::OnReadEnd(ReadEnd end, size_t size) {
  reading_ = false;
  if (end != ReadEnd::kData) {
    client_ended_ = true;
    EndedByClient(end);
  } else {
    end_ += size;
    if (state_ == State::kReading) {
      Process();
    } else {
      ContinueReading();
    }
  }
}

// A client may close its sending side and still read an answer, so only a broken connection ends a
// handler (ProbeClient finds out). A stream has no end that such a client could be waiting for.
void Connection::EndedByClient(ReadEnd end) {
  if (state_ == State::kReading) return Process();
  if (state_ == State::kLingering || end == ReadEnd::kError) return Close();
  if (state_ == State::kHandling && streaming_) Close();
}

void Connection::Flush() {
  if (writing_ || state_ == State::kClosed) return;
  if (!out_.empty() || !out_body_.empty()) {
    out_.swap(sending_);
    out_body_.swap(sending_body_);
    last_write_ns_ = server_.now_ns();
    switch (BeginWrite(sending_, sending_body_)) {
      case Done::kNow:
        break;
      case Done::kLater:
        writing_ = true;
        return;
      case Done::kFailed:
        return WriteFailed();
    }
  }
  Recycle(&sending_);
  Recycle(&sending_body_);
  if (state_ == State::kFinishing) Linger();
}

void Connection::WriteFailed() {
  client_ended_ = true;
  Close();
}

void Connection::OnWriting() { last_write_ns_ = server_.now_ns(); }

void Connection::OnWriteEnd(bool ok) {
  writing_ = false;
  Recycle(&sending_);
  Recycle(&sending_body_);
  if (!ok) {
    WriteFailed();
  } else {
    OnFlushed();
  }
}

void Connection::OnFlushed() {
  Flush();
  if (writing_ || state_ == State::kClosed) return;
  if (state_ == State::kHandling && drained_) {
    Resume(std::exchange(drained_, nullptr));
  } else {
    Process();
  }
}

// The last answer is out. Closing now, with the client's bytes unread, would make the kernel reset
// the connection and the client lose the answer.
void Connection::Linger() {
  state_ = State::kLingering;
  since_ns_ = server_.now_ns();
  switch (BeginShutDown()) {
    case Done::kNow:
      if (client_ended_) return Close();
      return ContinueReading();
    case Done::kLater:
      return;
    case Done::kFailed:
      return Close();
  }
}

void Connection::Reset() {
  if (!closed()) transport().Reset();
  Close();
}

void Connection::OnClose() {
  state_ = State::kClosed;
  drained_ = nullptr;
  if (websocket_) {
    if (!websocket_closed_) websocket_->Abort();
  } else {
    transport().Close();
  }
  Cancel();
}

bool Connection::CanEnd() const {
  return task_.done() && (!websocket_ || websocket_closed_) && !processing_;
}

void Connection::Drain() {
  if (state_ == State::kStarting || idle()) return Close();
  // A feed does not end by itself, and a WebSocket's handler ends only when its read is cancelled.
  if (state_ == State::kUpgraded || (state_ == State::kHandling && heartbeat_ns_ > 0)) Cancel();
  MaybeEnd();
}

void Connection::Tick(uint64_t now_ns) {
  const ServerOptions& options = server_.options;
  const uint64_t waited_ms = (now_ns - std::min(now_ns, since_ns_)) / kNsPerMs;
  const uint64_t unsent_ms = (now_ns - std::min(now_ns, last_write_ns_)) / kNsPerMs;
  if (writing_ && unsent_ms > options.write_stall_ms) return Close();
  switch (state_) {
    case State::kStarting:
      if (waited_ms > options.head_timeout_ms) Close();
      return;
    case State::kReading:
      return CheckReading(waited_ms);
    case State::kHandling:
      if (HasLostRights(now_ns)) return Cancel();
      if (client_ended_ && !streaming_) return ProbeClient();
      return CheckStream(unsent_ms);
    case State::kLingering:
      if (waited_ms > options.linger_ms) Close();
      return;
    case State::kUpgraded:
      if (HasLostRights(now_ns)) Cancel();
      return;
    case State::kFinishing:
    case State::kClosed:
      return;
  }
}

// Streams, WebSockets and polls end with the rights that they began with.
bool Connection::HasLostRights(uint64_t now_ns) const {
  if (server_.rights == nullptr || cancelled()) return false;
  const bool lasts = streaming_ || state_ == State::kUpgraded ||
                     now_ns > request_.arrival_ns() + kShortRequestMs * kNsPerMs;
  return lasts && !server_.rights->Holds(request_);
}

void Connection::CheckReading(uint64_t waited_ms) {
  const ServerOptions& options = server_.options;
  if (writing_) return;  // it is the client's turn to take its answers
  if (idle()) {
    if (waited_ms > options.idle_timeout_ms) Close();
    return;
  }
  const bool in_body = parser_.state() == RequestParser::State::kBody;
  const uint64_t allowed_ms =
      in_body ? options.body_grace_ms + request_.body_size() * 1000 / options.body_min_bytes_per_s
              : options.head_timeout_ms;
  if (waited_ms <= allowed_ms) return;
  Refuse(408, Error(Code::kTimeout, "http.request_timeout", "the request's {} took too long",
                    in_body ? "body" : "head"));
  Process();
}

// A client that has closed its sending side may wait for the answer or may be gone; only a write
// shows which. Every client of HTTP/1.1 ignores an interim answer.
void Connection::ProbeClient() {
  if (writing_ || !request_.is_http_1_1()) return;
  out_ += "HTTP/1.1 102 Processing\r\n\r\n";
  Flush();
}

void Connection::CheckStream(uint64_t unsent_ms) {
  if (!streaming_ || heartbeat_ns_ == 0 || writing_) return;
  if (unsent_ms * kNsPerMs < heartbeat_ns_) return;
  StreamChunk(heartbeat_);
  Flush();
}

}  // namespace sluice::http
