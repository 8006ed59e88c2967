// Writes are tried at once without going through the reactor: nearly always the kernel has room,
// and an answer then costs one system call.
#include <array>

#include <boost/asio/buffer.hpp>

#include "net/transport.h"

namespace sluice::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(TcpSocket socket) : socket_(std::move(socket)) {
    error_code ignored;
    socket_.non_blocking(true, ignored);
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  }

  Done Start(TransportEvents* events) override {
    events_ = events;
    return Done::kNow;
  }

  void Read(char* into, size_t size) override {
    socket_.async_read_some(asio::buffer(into, size), [this](error_code error, size_t got) {
      using ReadEnd = TransportEvents::ReadEnd;
      events_->OnRead(!error                      ? ReadEnd::kData
                      : error == asio::error::eof ? ReadEnd::kEof
                                                  : ReadEnd::kError,
                      got);
    });
  }

  Done Write(std::string_view first, std::string_view second) override {
    rest_ = {first, second};
    while (!rest_[0].empty() || !rest_[1].empty()) {
      error_code error;
      Consume(socket_.write_some(Buffers(), error));
      if (error == asio::error::would_block) {
        WriteRest();
        return Done::kLater;
      }
      if (error) return Done::kFailed;
    }
    return Done::kNow;
  }

  Done ShutDown() override {
    error_code error;
    socket_.shutdown(TcpSocket::shutdown_send, error);
    return error ? Done::kFailed : Done::kNow;
  }

  void Close() override {
    error_code ignored;
    socket_.close(ignored);
  }

  void Reset() override { ResetSocket(socket_); }

  std::unique_ptr<TcpSocket> ReleasePlain() override {
    return std::make_unique<TcpSocket>(std::move(socket_));
  }

 private:
  std::array<asio::const_buffer, 2> Buffers() const {
    return {asio::buffer(rest_[0]), asio::buffer(rest_[1])};
  }

  void Consume(size_t size) {
    const size_t of_first = std::min(size, rest_[0].size());
    rest_[0].remove_prefix(of_first);
    rest_[1].remove_prefix(size - of_first);
  }

  void WriteRest() {
    socket_.async_write_some(Buffers(), [this](error_code error, size_t size) {
      if (error) return events_->OnWritten(false);
      Consume(size);
      if (rest_[0].empty() && rest_[1].empty()) return events_->OnWritten(true);
      events_->OnWriteProgress();
      WriteRest();
    });
  }

  TcpSocket socket_;
  TransportEvents* events_ = nullptr;
  std::array<std::string_view, 2> rest_;
};

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(TcpSocket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace sluice::net
