#include <array>

#include <boost/asio/buffer.hpp>

#include "net/transport.h"

namespace sluice::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class TlsTransport final : public Transport {
 public:
  TlsTransport(TcpSocket socket, asio::ssl::context& context)
      : stream_(std::make_unique<TlsStream>(std::move(socket), context)) {
    error_code ignored;
    stream_->next_layer().set_option(asio::ip::tcp::no_delay(true), ignored);
  }

  Done Start(TransportEvents* events) override {
    events_ = events;
    stream_->async_handshake(TlsStream::server,
                             [this](error_code error) { events_->OnReady(!error); });
    return Done::kLater;
  }

  void Read(char* into, size_t size) override {
    stream_->async_read_some(asio::buffer(into, size), [this](error_code error, size_t got) {
      using ReadEnd = TransportEvents::ReadEnd;
      events_->OnRead(!error                      ? ReadEnd::kData
                      : error == asio::error::eof ? ReadEnd::kEof
                                                  : ReadEnd::kError,
                      got);
    });
  }

  Done Write(std::string_view first, std::string_view second) override {
    rest_ = {first, second};
    WriteRest();
    return Done::kLater;
  }

  Done ShutDown() override {
    stream_->async_shutdown([this](error_code) { events_->OnShutDown(); });
    return Done::kLater;
  }

  void Close() override {
    error_code ignored;
    stream_->next_layer().close(ignored);
  }

  void Reset() override { ResetSocket(stream_->next_layer()); }

  std::unique_ptr<TlsStream> ReleaseTls() override { return std::move(stream_); }

 private:
  // One record at a time: the stream takes one buffer per call.
  void WriteRest() {
    const size_t index = rest_[0].empty() ? 1 : 0;
    stream_->async_write_some(asio::buffer(rest_[index]),
                              [this, index](error_code error, size_t size) {
                                if (error) return events_->OnWritten(false);
                                rest_[index].remove_prefix(size);
                                if (rest_[0].empty() && rest_[1].empty())
                                  return events_->OnWritten(true);
                                events_->OnWriteProgress();
                                WriteRest();
                              });
  }

  std::unique_ptr<TlsStream> stream_;
  TransportEvents* events_ = nullptr;
  std::array<std::string_view, 2> rest_;
};

}  // namespace

std::unique_ptr<Transport> MakeTlsTransport(TcpSocket socket, asio::ssl::context& context) {
  return std::make_unique<TlsTransport>(std::move(socket), context);
}

}  // namespace sluice::net
