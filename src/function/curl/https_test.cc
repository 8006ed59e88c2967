// curl() over HTTPS, to a server whose certificate nobody has signed but itself.
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "function/curl/test_server.h"
#include "function/handler_fixture.h"

namespace sluice::function {
namespace {

struct Identity {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();

  Identity() {
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION* names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(certificate, names, -1);
    X509_EXTENSION_free(names);
    CHECK(X509_sign(certificate, key, EVP_sha256()) != 0);
  }
  ~Identity() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
};

// Passes bytes on to a server that speaks plain HTTP. One connection at a time.
class TlsFront {
 public:
  explicit TlsFront(uint16_t behind) : behind_(behind) {
    context_ = SSL_CTX_new(TLS_server_method());
    CHECK(SSL_CTX_use_certificate(context_, identity_.certificate) == 1);
    CHECK(SSL_CTX_use_PrivateKey(context_, identity_.key) == 1);
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    CHECK(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    CHECK(::listen(fd_, 16) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Loop(); });
  }
  ~TlsFront() {
    stop_ = true;
    thread_.join();
    ::close(fd_);
    SSL_CTX_free(context_);
  }

  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  int refused() const { return refused_; }  // handshakes that clients broke off

 private:
  static sockaddr_in Loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void Loop() {
    while (!stop_) {
      pollfd waited{.fd = fd_, .events = POLLIN, .revents = 0};
      if (::poll(&waited, 1, 20) != 1) continue;
      const int client = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      SSL* tls = SSL_new(context_);
      SSL_set_fd(tls, client);
      char first[4096];
      const int got = SSL_accept(tls) == 1 ? SSL_read(tls, first, sizeof(first)) : 0;
      if (got > 0) {
        Pass(tls, std::string_view(first, static_cast<size_t>(got)));
      } else {
        ++refused_;
      }
      SSL_free(tls);
      ::close(client);
    }
  }

  // The whole request is in the first bytes: the tests' are short.
  void Pass(SSL* tls, std::string_view request) const {
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(behind_);
    CHECK(::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    CHECK(::write(server, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(server, buffer, sizeof(buffer))) > 0;) {
      SSL_write(tls, buffer, static_cast<int>(got));
    }
    SSL_shutdown(tls);
    ::close(server);
  }

  Identity identity_;
  const uint16_t behind_;
  SSL_CTX* context_ = nullptr;
  int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<int> refused_{0};
  std::thread thread_;
};

class HttpsTest : public HandlerTest {
 protected:
  HttpsTest() { definition_.urls = {{.alias = "api", .hostname = front_.url() + "/base"}}; }

  TestServer server_{[](const std::string&) {
    return Respond("200 OK\r\nContent-Type: application/json", R"({"hello":"world"})");
  }};
  TlsFront front_{server_.port()};
};

TEST_F(HttpsTest, ACertificateThatNobodySignedIsRefused) {
  definition_.urls[0].validate_certificate = true;
  const std::string result = Run(
      "try { return curl('GET', api); } catch (e) { return [e instanceof CurlError, e.message]; }");
  EXPECT_TRUE(result.starts_with(R"([true,"Unable to perform the request: )")) << result;
  EXPECT_NE(result.find("certificate"), std::string::npos) << result;
  EXPECT_EQ(front_.refused(), 1);
  EXPECT_TRUE(server_.requests().empty()) << "nothing was sent";
}

TEST_F(HttpsTest, UnlessTheBindingDoesNotValidate) {
  definition_.urls[0].validate_certificate = false;
  EXPECT_EQ(Run("const r = curl('GET', api, {path: 'x'}); return [r.status, r.body];"),
            R"([200,{"hello":"world"}])");
  EXPECT_TRUE(server_.last().starts_with("GET /base/x HTTP/1.1\r\n")) << server_.last();
}

}  // namespace
}  // namespace sluice::function
