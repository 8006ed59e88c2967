#include "client/client.h"

#include <algorithm>
#include <atomic>
#include <charconv>

#include <sys/socket.h>

#include "base/ascii.h"
#include "client/response_reader.h"
#include "client/stream.h"
#include "client/websocket.h"

namespace sluice::client {
namespace {

bool IsIdempotent(std::string_view method) { return method != "POST" && method != "PATCH"; }

Result<Endpoint> ParseUrl(std::string_view url) {
  const auto bad = [&] {
    return Fail(Code::kInvalidArgument, "client.bad_url",
                "expected http://host:port or https://host:port, found '{}'", url);
  };
  Endpoint endpoint;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    endpoint.security = Endpoint::Security::kTls;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.find("://") != std::string_view::npos) {
    return bad();
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  const size_t bracket = rest.rfind(']');  // [::1]:80
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  std::string_view host = has_port ? rest.substr(0, colon) : rest;
  endpoint.port = endpoint.security == Endpoint::Security::kTls ? 443 : 80;
  if (has_port) {
    const std::string_view port = rest.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc() || end != port.data() + port.size()) return bad();
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.find_first_of("/?#@ []\r\n") != std::string_view::npos) return bad();
  endpoint.host = host;
  return endpoint;
}

// Characters that end a line must not get into a head.
Status Check(const Request& request) {
  const auto has = [](std::string_view text, std::string_view unwanted) {
    return text.find_first_of(unwanted) != std::string_view::npos;
  };
  constexpr std::string_view kBreaks("\r\n\0", 3);
  constexpr std::string_view kSpaces(" \t\r\n\0", 5);
  bool bad =
      has(request.method, kSpaces) || has(request.path, kSpaces) || !request.path.starts_with('/');
  for (const auto& [name, value] : request.headers) {
    bad = bad || has(name, kSpaces) || has(value, kBreaks);
  }
  if (!bad) return OkStatus();
  return Error(Code::kInvalidArgument, "client.bad_request",
               "the path must begin with '/' and be encoded, and no header may have a line break");
}

}  // namespace

std::string_view Response::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (EqualsIgnoreCase(key, name)) return value;
  }
  return {};
}

class Client::Impl {
 public:
  Impl(Endpoint endpoint, ClientOptions options)
      : endpoint_(std::move(endpoint)), options_(std::move(options)) {}

  Result<Response> Send(const Request& request) {
    RETURN_IF_ERROR(Check(request));
    if (stream_ && stream_->Stale()) Close();
    const bool kept = stream_ != nullptr;
    bool begun = false;
    Result<Response> response = Exchange(request, &begun);
    if (!response && kept && !begun && response.error().code() == Code::kUnavailable &&
        IsIdempotent(request.method) && !request.producer) {
      response = Exchange(request, &begun);
    }
    return response;
  }

  void Close() {
    fd_ = -1;  // before the number can belong to another file
    stream_.reset();
    carry_.clear();
  }

  void Interrupt() {
    if (const int fd = fd_; fd >= 0) ::shutdown(fd, SHUT_RDWR);
  }

  Result<std::unique_ptr<WebSocket>> OpenWebSocket(const Request& request, Response* refusal) {
    RETURN_IF_ERROR(Check(request));
    ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, Connect(endpoint_, options_));
    return WebSocket::Open(std::move(stream), HostHeader(), request, refusal);
  }

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  std::string HostHeader() const {
    const bool v6 = endpoint_.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", endpoint_.host, v6 ? "]" : "", endpoint_.port);
  }

  Result<Response> Exchange(const Request& request, bool* begun) {
    if (!stream_) {
      ASSIGN_OR_RETURN(stream_, Connect(endpoint_, options_));
      fd_ = stream_->fd();
    }
    produced_ = OkStatus();
    const Status sent = Write(request);
    if (!produced_.ok()) {
      Close();  // the server sees an incomplete request
      return Unexpected(produced_);
    }
    // A server may answer and close before it has read a body that it refuses: look for that
    // answer even if writing failed.
    ResponseReader reader(request, stream_.get(), &carry_);
    Result<Response> response = reader.Read();
    *begun = reader.begun();
    if (!response || !sent.ok() || !reader.keep_alive()) Close();
    if (!response && !sent.ok()) return Unexpected(sent);
    return response;
  }

  Status Write(const Request& request) {
    std::string text =
        fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, request.path, HostHeader());
    for (const auto& [name, value] : request.headers) {
      text += fmt::format("{}: {}\r\n", name, value);
    }
    if (request.producer) {
      text += "Transfer-Encoding: chunked\r\n\r\n";
      RETURN_IF_ERROR(stream_->Write(text));
      return WriteProduced(request.producer);
    }
    const bool has_body = !request.body.empty() || request.method == "POST" ||
                          request.method == "PUT" || request.method == "PATCH";
    if (has_body) text += fmt::format("Content-Length: {}\r\n", request.body.size());
    text += "\r\n";
    text += request.body;
    return stream_->Write(text);
  }

  Status WriteProduced(const Producer& producer) {
    while (true) {
      Result<std::optional<std::string>> piece = producer();
      if (!piece) return produced_ = piece.error();
      if (!*piece) return stream_->Write("0\r\n\r\n");
      if ((*piece)->empty()) continue;
      RETURN_IF_ERROR(stream_->Write(fmt::format("{:x}\r\n{}\r\n", (*piece)->size(), **piece)));
    }
  }

  const Endpoint endpoint_;
  const ClientOptions options_;
  std::unique_ptr<Stream> stream_;
  std::atomic<int> fd_ = -1;  // the stream's; -1 when there is none
  std::string carry_;
  Status produced_;  // the current request's producer's error
};

Result<Client> Client::Make(std::string_view url, ClientOptions options) {
  ASSIGN_OR_RETURN(Endpoint endpoint, ParseUrl(url));
  return Client(std::make_unique<Impl>(std::move(endpoint), std::move(options)));
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Response> Client::Send(const Request& request) { return impl_->Send(request); }
Result<std::unique_ptr<WebSocket>> Client::OpenWebSocket(const Request& request,
                                                         Response* refusal) {
  return impl_->OpenWebSocket(request, refusal);
}
void Client::Close() { impl_->Close(); }
void Client::Interrupt() { impl_->Interrupt(); }
const std::string& Client::host() const { return impl_->endpoint().host; }
uint16_t Client::port() const { return impl_->endpoint().port; }

}  // namespace sluice::client
