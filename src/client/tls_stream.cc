// OpenSSL reads and writes through a BIO of our own instead of its socket BIO, because that one's
// write() may end the process with SIGPIPE.
#include "client/tls_stream.h"

#include <cerrno>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace sluice::client {
namespace {

int BioWrite(BIO* bio, const char* data, int size) {
  auto* socket = static_cast<Socket*>(BIO_get_data(bio));
  return static_cast<int>(socket->SendSome({data, static_cast<size_t>(size)}));
}

int BioRead(BIO* bio, char* data, int size) {
  auto* socket = static_cast<Socket*>(BIO_get_data(bio));
  return static_cast<int>(socket->Receive(data, static_cast<size_t>(size)));
}

long BioControl(BIO*, int command, long, void*) {  // NOLINT(google-runtime-int): OpenSSL's type
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* SocketMethod() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
    BIO_meth_set_write(method, BioWrite);
    BIO_meth_set_read(method, BioRead);
    BIO_meth_set_ctrl(method, BioControl);
    return method;
  }();
  return kMethod;
}

Status TlsError(std::string_view what) {
  const auto code = ERR_get_error();
  char text[256] = "unknown";
  if (code != 0) ERR_error_string_n(code, text, sizeof(text));
  ERR_clear_error();
  return Error(Code::kUnavailable, "client.tls", "TLS: {}: {}", what, text);
}

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, Context context)
      : socket_(std::move(socket)), context_(std::move(context)), ssl_(SSL_new(context_.get())) {
    BIO* bio = BIO_new(SocketMethod());
    BIO_set_data(bio, &socket_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
  }

  Status Handshake(const std::string& host, ClientOptions::Verify verify) {
    SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    if (verify == ClientOptions::Verify::kPeer) {
      SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);
      X509_VERIFY_PARAM* parameters = SSL_get0_param(ssl_.get());
      if (X509_VERIFY_PARAM_set1_ip_asc(parameters, host.c_str()) != 1) {
        SSL_set1_host(ssl_.get(), host.c_str());
      }
      ERR_clear_error();
    }
    errno = 0;
    if (SSL_connect(ssl_.get()) == 1) return OkStatus();
    const int error = errno;
    const auto verdict = SSL_get_verify_result(ssl_.get());
    if (verdict != X509_V_OK) {
      ERR_clear_error();
      return Error(Code::kUnavailable, "client.tls", "the certificate of '{}' is not trusted: {}",
                   host, X509_verify_cert_error_string(verdict));
    }
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_WRONG_VERSION_NUMBER) {
      ERR_clear_error();
      return Error(Code::kUnavailable, "client.tls",
                   "'{}' does not speak TLS on this port: use http:// instead of https://", host);
    }
    return ERR_peek_error() == 0 && error != 0 ? IoError(error) : TlsError("handshake");
  }

  Result<size_t> Read(char* into, size_t size) override {
    size_t got = 0;
    errno = 0;
    if (SSL_read_ex(ssl_.get(), into, size, &got) == 1) return got;
    const int error = errno;
    if (SSL_get_error(ssl_.get(), 0) == SSL_ERROR_ZERO_RETURN) return size_t{0};
    return Unexpected(error != 0 ? IoError(error) : TlsError("read"));
  }

  Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      size_t sent = 0;
      errno = 0;
      if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent) != 1) {
        return errno != 0 ? IoError(errno) : TlsError("write");
      }
      bytes.remove_prefix(sent);
    }
    return OkStatus();
  }

  // TLS 1.3 sends session tickets unasked, so bytes that wait do not mean the end.
  bool Stale() override {
    return SSL_pending(ssl_.get()) > 0 || socket_.Look() == Socket::Waiting::kEnd;
  }
  bool HasPending() const override { return SSL_pending(ssl_.get()) > 0; }
  int fd() const override { return socket_.fd(); }

 private:
  Socket socket_;
  Context context_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
};

Result<Context> MakeContext(const ClientOptions& options) {
  Context context(SSL_CTX_new(TLS_client_method()));
  if (!context) return Unexpected(TlsError("context"));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (options.verify == ClientOptions::Verify::kNothing) return context;
  const bool loaded = options.ca_file.empty()
                          ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                          : SSL_CTX_load_verify_file(context.get(), options.ca_file.c_str()) == 1;
  if (!loaded) return Unexpected(TlsError("can't load authorities from " + options.ca_file));
  return context;
}

}  // namespace

Result<std::unique_ptr<Stream>> ConnectTls(Socket socket, const std::string& host,
                                           const ClientOptions& options) {
  ASSIGN_OR_RETURN(Context context, MakeContext(options));
  auto stream = std::make_unique<TlsStream>(std::move(socket), std::move(context));
  RETURN_IF_ERROR(stream->Handshake(host, options.verify));
  return stream;
}

}  // namespace sluice::client
