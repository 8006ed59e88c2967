#include "net/acceptor.h"

#include <utility>

#include <unistd.h>

#include "base/log.h"

namespace sluice::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int kBacklog = 1024;
// The pause after a failed accept (no file descriptor is left); clients wait in the backlog.
constexpr auto kRetryAfter = std::chrono::milliseconds(100);
constexpr char kTls12Ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
// The most clients beyond max_connections that get an answer saying so at a time; further ones are
// closed without an answer.
constexpr size_t kMaxRefused = 64;

// An open socket on its way to another loop.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

std::string Address(const TcpSocket& socket) {
  error_code error;
  const tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return "unknown";
  const bool v6 = remote.address().is_v6();
  const std::string host = remote.address().to_string();
  return v6 ? fmt::format("[{}]:{}", host, remote.port())
            : fmt::format("{}:{}", host, remote.port());
}

Status ListenError(const ListenOptions& options, const error_code& error) {
  return Error(Code::kUnavailable, "http.listen", "can't listen on {}:{}: {}", options.host,
               options.port, error.message());
}

}  // namespace

Acceptor::Acceptor(const std::vector<std::shared_ptr<IoLoop>>& loops, Protocol& protocol)
    : loops_(loops),
      protocol_(protocol),
      server_(loops[0]->server()),
      acceptor_(loops[0]->context()),
      retry_(loops[0]->context()) {}

Status Acceptor::Open(const ListenOptions& options) {
  if (options.tls) RETURN_IF_ERROR(LoadTls(*options.tls));
  return Bind(options);
}

Status Acceptor::Bind(const ListenOptions& options) {
  error_code error;
  tcp::resolver resolver(loops_[0]->context());
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::passive, error);
  if (error || found.empty()) return ListenError(options, error);
  const tcp::endpoint endpoint = *found.begin();
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (error) return ListenError(options, error);
  port_ = acceptor_.local_endpoint(error).port();
  return error ? ListenError(options, error) : OkStatus();
}

Status Acceptor::LoadTls(const TlsOptions& options) {
  tls_.emplace(asio::ssl::context::tls_server);
  error_code error;
  std::string_view file = options.certificate_file;
  tls_->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                        asio::ssl::context::no_tlsv1_1 | SSL_OP_NO_RENEGOTIATION,
                    error);
  // Of TLS 1.2 only the ciphers with forward secrecy; TLS 1.3 has no others.
  if (!error && SSL_CTX_set_cipher_list(tls_->native_handle(), kTls12Ciphers) != 1) {
    return Error(Code::kInternal, "http.tls", "OpenSSL has none of the ciphers {}", kTls12Ciphers);
  }
  if (!error) tls_->use_certificate_chain_file(options.certificate_file, error);
  if (!error) {
    file = options.key_file;
    tls_->use_private_key_file(options.key_file, asio::ssl::context::pem, error);
  }
  if (!error) return OkStatus();
  return Error(Code::kInvalidArgument, "http.tls", "can't use '{}' for TLS: {}", file,
               error.message());
}

void Acceptor::Start() { Accept(); }

void Acceptor::Close() {
  error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
}

void Acceptor::Accept() {
  // The socket is registered here with the reactor of the acceptor's own loop: that of another loop
  // has no locks, and only its own thread may touch it (io_loop.cc).
  acceptor_.async_accept(loops_[0]->context(), [this](error_code error, TcpSocket socket) {
    if (!acceptor_.is_open()) return;
    if (error && error != asio::error::connection_aborted) return OnError(error);
    if (!error) OnAccepted(std::move(socket));
    Accept();
  });
}

void Acceptor::OnError(const error_code& error) {
  if (!std::exchange(failing_, true)) {
    log::Error("can't accept connections; trying again",
               {{"port", port_}, {"error", error.message()}});
  }
  retry_.expires_after(kRetryAfter);
  retry_.async_wait([this](const error_code& cancelled) {
    if (!cancelled && acceptor_.is_open()) Accept();
  });
}

void Acceptor::OnAccepted(TcpSocket socket) {
  if (std::exchange(failing_, false)) log::Info("accepting connections again", {{"port", port_}});
  IoLoop* loop = loops_[next_loop_].get();
  next_loop_ = (next_loop_ + 1) % loops_.size();
  HandOver(loop, std::move(socket));
}

void Acceptor::HandOver(IoLoop* loop, TcpSocket socket) {
  Admission admission = Admission::kServed;
  if (!server_.TryEnter(server_.options.max_connections)) {
    if (!server_.TryEnter(server_.options.max_connections + kMaxRefused)) return;
    admission = Admission::kRefused;
  }
  error_code error;
  const tcp family = socket.local_endpoint(error).protocol();
  Descriptor descriptor(error ? -1 : socket.release(error));
  if (error) return server_.Leave();  // the client has gone
  loop->Post([this, loop, admission, family, descriptor = std::move(descriptor)]() mutable {
    TcpSocket socket(loop->context());
    error_code failed;
    socket.assign(family, descriptor.number(), failed);
    if (failed) return server_.Leave();
    descriptor.Release();
    auto connection = protocol_.NewConnection(*loop, Address(socket), admission);
    loop->Adopt(std::move(connection), tls_ ? MakeTlsTransport(std::move(socket), *tls_)
                                            : MakePlainTransport(std::move(socket)));
  });
}

}  // namespace sluice::net
