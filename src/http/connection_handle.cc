// From a parsed request to its answer: route, filter, handler, framing, observers.
#include "base/log.h"
#include "http/connection.h"
#include "http/error_body.h"

namespace sluice::http {
namespace {

// A body larger than this is written from where it is instead of being copied behind its head.
constexpr size_t kMaxCopiedBody = 16 << 10;
// Streamed chunks are collected up to this size before they are written.
constexpr size_t kStreamBuffer = 32 << 10;

Status InternalError(std::string_view route, const char* what) {
  log::Error("a request handler threw", {{"route", route}, {"what", what}});
  return Error(Code::kInternal, "http.internal", "the request failed inside the server");
}

// The exception of a handler. It is a defect of the server, whose own errors are Status.
template <typename F>
Status Guard(const Route& route, F run) {
  try {
    run();
    return OkStatus();
  } catch (const std::exception& error) {
    return InternalError(route.path, error.what());
  } catch (...) {
    return InternalError(route.path, "unknown");
  }
}

void AppendChunk(std::string* out, std::string_view chunk) {
  fmt::format_to(std::back_inserter(*out), "{:x}\r\n", chunk.size());
  out->append(chunk);
  out->append("\r\n");
}

}  // namespace

// A client without the permission need not send the body: a request that is refused because of its
// head is answered before the body is read, and the connection ends with the answer.
void Connection::Dispatch(Extent extent) {
  state_ = State::kHandling;
  extent_ = extent;
  ResetExchange();
  route_ = nullptr;
  close_after_ = !parser_.keep_alive() || io().draining() || extent == Extent::kHead;
  streaming_ = false;
  heartbeat_ns_ = 0;
  const Status target = parser_.Finish(buffer_.get() + begin_, server_.now_ns(), &shared_.ids);
  response_.Reset(this, request_.id());
  if (!target.ok()) {
    response_.Error(target);
    return Respond();
  }
  if (router_ != listener_.router(io())) router_ = listener_.router(io());
  response_.set_error_answer(router_->ErrorAnswerOf(request_.path()));
  const Router::Match match = router_->Find(&request_);
  if (match.route == nullptr) return AnswerUnrouted(match);
  route_ = match.route;
  if (server_.environment.filter == nullptr) return Passed();
  switch (server_.environment.filter->Check(*route_, request_, response_)) {
    case Filter::Verdict::kPass:
      return Passed();
    case Filter::Verdict::kAnswered:
      return Respond();
    case Filter::Verdict::kLater:
      return StartTask(FilterThenHandle());
  }
}

void Connection::Passed() {
  if (extent_ == Extent::kHead) return AwaitBody();
  if (!SpoolBody()) return Respond();
  RunHandler();
}

// Puts a body that came with its head on disk, if the route wants that. False: it failed, and the
// error has been answered.
bool Connection::SpoolBody() {
  if (!route_->spool_above || request_.body().empty()) return true;
  const auto above = route_->spool_above(request_);
  const Status spooled = above ? parser_.SpoolWhole(*above) : OkStatus();
  if (!spooled.ok()) response_.Error(spooled);
  return spooled.ok();
}

// When the body has come, the whole request is dispatched again.
void Connection::AwaitBody() {
  if (route_->spool_above) {
    if (const auto above = route_->spool_above(request_)) parser_.AllowSpool(*above);
  }
  if (parser_.IsBodyTooLarge()) {
    response_.Error(413, parser_.BodyTooLarge());
    return Respond();
  }
  state_ = State::kReading;
  since_ns_ = server_.now_ns();
  route_ = nullptr;
  parser_.Unfinish();
  if (parser_.expects_continue()) out_ += "HTTP/1.1 100 Continue\r\n\r\n";
  if (begin_ + parsed_ == end_) DropBodyBytes();
}

void Connection::AnswerUnrouted(const Router::Match& match) {
  if (match.bad_escape) {
    response_.Error(Error(Code::kInvalidArgument, "http.bad_target",
                          "the request's target has a malformed percent escape in its path"));
  } else if (!match.path_known) {
    response_.Error(
        Error(Code::kNotFound, "http.no_route", "no resource at '{}'", request_.path()));
  } else {
    if (request_.method() == Method::kOptions) {
      response_.NoContent();
    } else {
      response_.Error(405, Error(Code::kUnsupported, "http.method_not_allowed",
                                 "'{}' takes {}, not this method", request_.path(), match.allow));
    }
    response_.AddHeader("Allow", match.allow);
  }
  Respond();
}

void Connection::RunHandler() {
  if (route_->websocket) return Upgrade();
  Task<> task;
  const Status ran = Guard(*route_, [&] {
    if (route_->handler.waiting) {
      task = route_->handler.waiting(request_, response_);
    } else {
      route_->handler.plain(request_, response_);
    }
  });
  if (ran.ok() && !task.empty()) return StartTask(std::move(task));
  if (!ran.ok()) response_.Error(ran);
  Respond();
}

void Connection::StartTask(Task<> task) {
  task_ = std::move(task);
  task_.Start();
  if (task_.done()) FinishTask();
}

Task<> Connection::FilterThenHandle() {
  Filter& filter = *server_.environment.filter;
  if (co_await filter.CheckLater(*route_, request_, response_) != Filter::Verdict::kPass) co_return;
  if (extent_ == Extent::kHead) {
    passed_later_ = true;
  } else if (!SpoolBody()) {
    co_return;
  } else if (route_->handler.waiting) {
    Task<> task = route_->handler.waiting(request_, response_);
    if (!task.empty()) co_await std::move(task);
  } else if (route_->handler.plain) {
    route_->handler.plain(request_, response_);
  } else {
    passed_later_ = true;  // a WebSocket
  }
}

void Connection::FinishTask() {
  const Status ran = Guard(*route_, [this] { task_.Take(); });
  task_ = Task<>();
  if (websocket_) {
    if (state_ == State::kUpgraded) websocket_->Finish();
    return;
  }
  if (std::exchange(passed_later_, false)) return Passed();
  if (!ran.ok() && streaming_) response_.Abort();
  if (!ran.ok() && !streaming_) response_.Error(ran);
  Respond();
}

void Connection::OnResumed() {
  if (task_.done()) {
    FinishTask();
    Process();
  }
  MaybeEnd();
}

// Answers a malformed or late request; the connection ends with the answer.
void Connection::Refuse(int http_status, const Status& error) {
  parser_.FinishRefused(server_.now_ns(), &shared_.ids);
  state_ = State::kHandling;
  route_ = nullptr;
  close_after_ = true;
  streaming_ = false;
  response_.Reset(this, request_.id());
  response_.set_error_answer(listener_.router(io())->ErrorAnswerOf(""));
  response_.Error(http_status, error);
  Respond();
}

void Connection::Respond() {
  since_ns_ = server_.now_ns();
  if (streaming_) {
    EndStream();
  } else if (state_ != State::kClosed) {
    RespondWhole();
  }
  Observe();
  if (state_ == State::kClosed) return;
  if (streaming_ && response_.aborted() && !chunked_) return Reset();
  if (streaming_ && cancelled()) {
    Flush();
    return Close();  // there is no whole answer that lingering could save
  }
  state_ = close_after_ ? State::kFinishing : State::kReading;
  NextMessage();
}

Response::HeadContext Connection::Head(Response::Framing framing, uint64_t now_ns) {
  close_after_ = close_after_ || io().draining() || framing == Response::Framing::kUntilClose;
  return {.date = shared_.Date(now_ns),
          .close = close_after_,
          .keep_alive_1_0 = !request_.is_http_1_1(),
          .framing = framing};
}

void Connection::RespondWhole() {
  response_.AppendHead(Head(Response::Framing::kLength, since_ns_), &out_);
  if (request_.method() == Method::kHead || response_.bodiless()) return;
  if (response_.body().size() > kMaxCopiedBody) {
    out_body_ = response_.TakeBody();
  } else {
    out_ += response_.body();
  }
}

void Connection::BeginStream() {
  streaming_ = true;
  streamed_bytes_ = 0;
  chunked_ = request_.is_http_1_1();
  response_.AppendHead(Head(chunked_ ? Response::Framing::kChunked : Response::Framing::kUntilClose,
                            server_.now_ns()),
                       &out_);
  // Nobody will read a stream whose client has already closed its side.
  if (client_ended_) Cancel();
}

StreamSink::Accepted Connection::StreamChunk(std::string_view chunk) {
  if (!streaming_ && state_ == State::kHandling) BeginStream();
  if (cancelled() || state_ != State::kHandling || request_.method() == Method::kHead) {
    return Accepted::kGone;
  }
  if (!chunk.empty()) {
    streamed_bytes_ += chunk.size();
    if (chunked_) {
      AppendChunk(&out_, chunk);
    } else {
      out_ += chunk;
    }
  }
  if (out_.size() >= kStreamBuffer) Flush();
  if (cancelled()) return Accepted::kGone;
  return writing_ && out_.size() >= kStreamBuffer ? Accepted::kFull : Accepted::kYes;
}

void Connection::SetHeartbeat(uint64_t interval_ms, std::string comment) {
  heartbeat_ns_ = interval_ms * 1'000'000;
  heartbeat_ = std::move(comment);
  if (io().draining()) Cancel();
}

void Connection::EndStream() {
  if (response_.aborted() || cancelled()) {
    close_after_ = true;  // without the last chunk the client knows that the answer is incomplete
  } else if (chunked_ && request_.method() != Method::kHead) {
    out_ += "0\r\n\r\n";
  }
}

void Connection::Observe() {
  if (server_.environment.observers.empty()) return;
  const RequestRecord record{
      .request = request_,
      .route = route_,
      .listener = listener_.index(),
      .status = websocket_ ? 101 : response_.status(),
      .response_bytes = streaming_ ? streamed_bytes_ : response_.body().size() + out_body_.size(),
      .duration_ns = since_ns_ - std::min(since_ns_, request_.arrival_ns()),
      .cancelled = cancelled()};
  for (RequestObserver* observer : server_.environment.observers) observer->OnRequest(record);
}

void Connection::Upgrade() {
  Flush();  // the answers to earlier requests
  const bool pipelined = reading_ || writing_ || begin_ + parsed_ != end_;
  if (!parser_.wants_websocket() || pipelined) {
    response_.Error(426, Error(Code::kUnsupported, "http.websocket_expected",
                               "'{}' is a WebSocket: expected an upgrade, with nothing sent ahead",
                               request_.path()));
    response_.AddHeader("Upgrade", "websocket");
    return Respond();
  }
  if (state_ == State::kClosed) return;
  state_ = State::kUpgraded;
  const size_t own_limit = route_->max_message_bytes;
  websocket_ = MakeWebSocketSession(
      &transport(), this, own_limit == 0 ? server_.options.max_websocket_message_bytes : own_limit,
      {.on_accepted = [this](bool ok) { OnUpgraded(ok); },
       .on_closed = [this] { OnWebSocketClosed(); }});
  websocket_->Accept(request_);
}

void Connection::OnUpgraded(bool ok) {
  if (state_ == State::kClosed) return;
  if (!ok) return Close();
  StartTask(route_->websocket(request_, *websocket_));
}

void Connection::OnWebSocketClosed() {
  websocket_closed_ = true;
  since_ns_ = server_.now_ns();
  Observe();
  Close();
  MaybeEnd();
}

}  // namespace sluice::http
