// A connection's bytes, plain or TLS.
//
// Events arrive on the loop's thread and never from inside the call that started the operation. At
// most one read and one write run at a time. After Close, each running operation still ends with
// its event; the transport must live until then.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace sluice::net {

using TcpSocket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using TlsStream = boost::asio::ssl::stream<TcpSocket>;

class TransportEvents {
 public:
  enum class ReadEnd : uint8_t { kData, kEof, kError };
  virtual ~TransportEvents() = default;
  virtual void OnReady(bool ok) = 0;
  virtual void OnRead(ReadEnd end, size_t size) = 0;
  // Some bytes of a running write were taken; then, once, its end.
  virtual void OnWriteProgress() = 0;
  virtual void OnWritten(bool ok) = 0;
  virtual void OnShutDown() = 0;
};

class Transport {
 public:
  enum class Done : uint8_t { kNow, kLater, kFailed };  // kLater: an event will follow

  virtual ~Transport() = default;
  // `events` hears of the ends of operations and outlives them. The TLS handshake ends with
  // OnReady.
  virtual Done Start(TransportEvents* events) = 0;
  // Ends with OnRead.
  virtual void Read(char* into, size_t size) = 0;
  // Writes first, then second. Both stay valid until OnWritten, if that follows.
  virtual Done Write(std::string_view first, std::string_view second) = 0;
  // Tells the client that nothing more will be written; ends with OnShutDown. kNow: go on reading
  // until the client closes.
  virtual Done ShutDown() = 0;
  virtual void Close() = 0;
  // Closes the connection so that the client sees that its data is not complete.
  virtual void Reset() = 0;

  // For a connection that changes its protocol: gives the socket away (one of the two). Nothing may
  // be running.
  virtual std::unique_ptr<TcpSocket> ReleasePlain() { return nullptr; }
  virtual std::unique_ptr<TlsStream> ReleaseTls() { return nullptr; }
};

inline void ResetSocket(TcpSocket& socket) {
  boost::system::error_code ignored;
  socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

std::unique_ptr<Transport> MakePlainTransport(TcpSocket socket);
std::unique_ptr<Transport> MakeTlsTransport(TcpSocket socket, boost::asio::ssl::context& context);

}  // namespace sluice::net
