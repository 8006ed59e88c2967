// The only file that includes Beast, because it costs seconds to compile.
#include "http/websocket_session.h"

#include <deque>
#include <optional>

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "net/completion.h"

namespace sluice::http {
namespace {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;

constexpr auto kHandshakeTimeout = std::chrono::seconds(10);
// A client that has been silent for half of this is pinged, after all of it closed.
constexpr auto kIdleTimeout = std::chrono::seconds(60);
// The most bytes that senders may have queued.
constexpr size_t kMaxQueuedBytes = 64ull << 20;

Status ClosedError() {
  return Error(Code::kUnavailable, "http.websocket_closed", "the WebSocket has been closed");
}

// The session as senders see it; called on the loop's thread.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void Enqueue(std::string text) = 0;
  virtual void CloseAfterQueued() = 0;
};

// `outlet` is null once the session has gone; read and written on the loop's thread.
class LoopSender final : public WebSocket::Sender {
 public:
  LoopSender(std::shared_ptr<net::Loop> loop, std::shared_ptr<Outlet*> outlet)
      : loop_(std::move(loop)), outlet_(std::move(outlet)) {}

  void Send(std::string text) override {
    loop_->Post([outlet = outlet_, text = std::move(text)]() mutable {
      if (*outlet != nullptr) (*outlet)->Enqueue(std::move(text));
    });
  }
  void Close() override {
    loop_->Post([outlet = outlet_] {
      if (*outlet != nullptr) (*outlet)->CloseAfterQueued();
    });
  }

 private:
  const std::shared_ptr<net::Loop> loop_;
  const std::shared_ptr<Outlet*> outlet_;
};

// `running_` counts Beast's operations, whose handlers refer to this object; on_closed is called
// when the session is over and none is left.
template <typename Stream>
class BeastSession final : public WebSocketSession, private Outlet {
 public:
  BeastSession(Stream stream, net::Exchange* exchange, size_t max_message_bytes, Events events)
      : stream_(std::move(stream)), exchange_(*exchange), events_(std::move(events)) {
    stream_.set_option(websocket::stream_base::timeout{.handshake_timeout = kHandshakeTimeout,
                                                       .idle_timeout = kIdleTimeout,
                                                       .keep_alive_pings = true});
    stream_.read_message_max(max_message_bytes);
    stream_.auto_fragment(false);  // a message is one frame
  }

  ~BeastSession() override { *outlet_ = nullptr; }

  std::shared_ptr<Sender> MakeSender() override {
    return std::make_shared<LoopSender>(exchange_.loop(), outlet_);
  }

  void Accept(const Request& request) override {
    beast::http::request<beast::http::empty_body> upgrade(beast::http::verb::get,
                                                          std::string(request.target()), 11);
    for (const Header& header : request.headers()) {
      upgrade.insert(std::string(header.name), std::string(header.value));
    }
    ++running_;
    stream_.async_accept(upgrade, [this](error_code error) {
      ended_ = static_cast<bool>(error);
      events_.on_accepted(!error);
      OperationEnded();
    });
  }

  Task<Result<Message>> Read() override {
    if (ended_ || left_) co_return Unexpected(ClosedError());
    net::Completion<bool> done(exchange_);
    reading_ = done;
    ++running_;
    stream_.async_read(input_, [this, done](error_code error, size_t) {
      if (error) ended_ = true;
      done.Complete(!error);
      OperationEnded();
    });
    const Result<bool> read = co_await done;
    reading_.reset();
    if (!read) co_return Unexpected(read.error());
    if (!*read) co_return Unexpected(ClosedError());
    Message message{.data = beast::buffers_to_string(input_.data()),
                    .binary = stream_.got_binary()};
    input_.clear();
    co_return message;
  }

  Task<Status> Write(Message message) override {
    if (ended_) co_return ClosedError();
    // Kept here, because the operation outlives a cancelled wait.
    output_ = std::move(message.data);
    stream_.binary(message.binary);
    net::Completion<bool> done(exchange_);
    ++running_;
    stream_.async_write(boost::asio::buffer(output_), [this, done](error_code error, size_t) {
      if (error) ended_ = true;
      done.Complete(!error);
      OperationEnded();
    });
    const Result<bool> written = co_await done;
    if (!written) co_return written.error();
    co_return *written ? OkStatus() : ClosedError();
  }

  void SetClose(uint16_t code, std::string reason) override {
    reason.resize(std::min<size_t>(reason.size(), kMaxReason));
    reason_ = websocket::close_reason(static_cast<websocket::close_code>(code), reason);
  }

  void Finish() override {
    if (over_) return;
    over_ = true;
    ++running_;
    if (ended_) {
      CloseSocket();
      return OperationEnded();
    }
    stream_.async_close(reason_, [this](error_code) {
      CloseSocket();
      OperationEnded();
    });
  }

  void Abort() override {
    over_ = true;
    ended_ = true;
    ++running_;
    CloseSocket();
    OperationEnded();
  }

 private:
  static constexpr size_t kMaxReason = 123;  // bytes that fit into a close frame

  void Enqueue(std::string text) override {
    if (ended_ || over_ || left_ || closing_) return;
    queued_bytes_ += text.size();
    queue_.push_back(std::move(text));
    if (queued_bytes_ > kMaxQueuedBytes) return EndReading();
    if (queue_.size() == 1) WriteNext();
  }

  void WriteNext() {
    stream_.binary(false);
    ++running_;
    stream_.async_write(boost::asio::buffer(queue_.front()), [this](error_code error, size_t) {
      if (error) ended_ = true;
      queued_bytes_ -= queue_.front().size();
      queue_.pop_front();
      if (!ended_ && !over_ && !left_ && !queue_.empty()) WriteNext();
      if (closing_ && queue_.empty()) EndReading();
      OperationEnded();
    });
  }

  void CloseAfterQueued() override {
    closing_ = true;
    if (queue_.empty()) EndReading();
  }

  void EndReading() {
    left_ = true;
    if (reading_) reading_->Complete(false);
  }

  void CloseSocket() {
    error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  void OperationEnded() {
    if (--running_ == 0 && over_ && !std::exchange(told_, true)) events_.on_closed();
  }

  websocket::stream<Stream> stream_;
  net::Exchange& exchange_;
  Events events_;
  websocket::close_reason reason_{websocket::close_code::normal};
  beast::flat_buffer input_;
  std::string output_;
  size_t running_ = 0;
  bool ended_ = false;    // the socket takes and gives nothing any more
  bool over_ = false;     // Finish or Abort has been called
  bool told_ = false;     // on_closed has been called
  bool closing_ = false;  // a sender closes it after its queued messages
  bool left_ = false;     // a sender has ended it, or had too much to send

  const std::shared_ptr<Outlet*> outlet_ = std::make_shared<Outlet*>(static_cast<Outlet*>(this));
  std::optional<net::Completion<bool>> reading_;
  std::deque<std::string> queue_;  // of senders; the first is being written
  size_t queued_bytes_ = 0;
};

template <typename Stream>
std::unique_ptr<WebSocketSession> Make(Stream stream, net::Exchange* exchange,
                                       size_t max_message_bytes, WebSocketSession::Events events) {
  return std::make_unique<BeastSession<Stream>>(std::move(stream), exchange, max_message_bytes,
                                                std::move(events));
}

}  // namespace

std::unique_ptr<WebSocketSession> MakeWebSocketSession(net::Transport* transport,
                                                       net::Exchange* exchange,
                                                       size_t max_message_bytes,
                                                       WebSocketSession::Events events) {
  if (auto tls = transport->ReleaseTls()) {
    return Make(std::move(*tls), exchange, max_message_bytes, std::move(events));
  }
  return Make(std::move(*transport->ReleasePlain()), exchange, max_message_bytes,
              std::move(events));
}

}  // namespace sluice::http
