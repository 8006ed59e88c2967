#include "function/curl/http_client.h"

#include <chrono>
#include <map>

#include <curl/curl.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/wait_scope.h"

namespace sluice::function {
namespace {

constexpr long kMaxRedirects = 20;
constexpr long kMaxConnections = 8;            // kept open, of one client
constexpr size_t kMaxHeaderBytes = 256 << 10;  // of one response
constexpr int kLookAtStopMs = 20;

constexpr std::string_view kUnable = "Unable to perform the request: ";

// libcurl itself, once in a process.
void StartLibrary() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_ALL);
  CHECK(started == CURLE_OK);
}

struct EasyCleanup {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct MultiCleanup {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
using Easy = std::unique_ptr<CURL, EasyCleanup>;
using Multi = std::unique_ptr<CURLM, MultiCleanup>;

}  // namespace

// The easy handles, one for each binding by its name, hold the cookies; the multi handle holds the
// connections. Members are destroyed in the reverse order.
struct HttpClient::Handles {
  Multi multi;
  std::map<std::string, Easy> by_binding;
};

// One request and the part of its response that has arrived.
class HttpClient::Transfer {
 public:
  Transfer(const HttpClient& client, CURL* easy) : client_(client), easy_(easy) {
    curl_easy_reset(easy_);
  }
  ~Transfer() { curl_slist_free_all(headers_); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Not OK when libcurl does not take something, such as a URL of megabytes.
  CURLcode Prepare(const UrlBinding& binding, const HttpRequest& request) {
    Set(CURLOPT_URL, request.url.c_str());
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_PROXY, "");  // whatever the environment says
    Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    Set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    Set(CURLOPT_USERAGENT, "sluice");
    if (!request.sink) Set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
    Set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::OnSocket);
    Set(CURLOPT_OPENSOCKETDATA, this);
    Set(CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
    Set(CURLOPT_HEADERDATA, this);
    Set(CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
    Set(CURLOPT_WRITEDATA, this);
    Set(CURLOPT_SSL_VERIFYPEER, binding.validate_certificate ? 1L : 0L);
    Set(CURLOPT_SSL_VERIFYHOST, binding.validate_certificate ? 2L : 0L);
    SetRedirects(request);
    SetAuthentication(binding);
    request_ = &request;
    SetMethod(request);
    return prepared_;
  }

  Result<HttpResponse> Finish(CURLcode code) {
    if (!refused_.ok() && code == CURLE_COULDNT_CONNECT)
      return Unexpected(refused_.Prefixed(kUnableShort));
    if (!ended_.ok()) return Unexpected(ended_);
    if (too_large_) {
      return Fail(Code::kTooLarge, "curl.too_large", "{}the response has more than {} bytes",
                  kUnable, client_.max_response_bytes_);
    }
    if (code != CURLE_OK) {
      const bool late = code == CURLE_OPERATION_TIMEDOUT;
      return Fail(late ? Code::kTimeout : Code::kUnavailable, late ? "curl.timeout" : "curl.failed",
                  "{}{}", kUnable, curl_easy_strerror(code));
    }
    NoteHead();
    return std::move(response_);
  }

  // Whether a sink has waited for too long.
  bool late() const {
    if (!request_->sink || request_->timeout_ms == 0) return false;
    return Now() - heard_ > std::chrono::milliseconds(request_->timeout_ms);
  }

 private:
  using Time = std::chrono::steady_clock::time_point;
  static Time Now() { return std::chrono::steady_clock::now(); }

  void NoteHead() {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
    char* type = nullptr;
    curl_easy_getinfo(easy_, CURLINFO_CONTENT_TYPE, &type);
    if (type != nullptr) response_.content_type = MediaType(type);
  }

  static constexpr std::string_view kUnableShort = "Unable to perform the request";

  template <typename Value>
  void Set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(easy_, option, value);
    if (prepared_ == CURLE_OK) prepared_ = code;
  }

  void SetRedirects(const HttpRequest& request) {
    Set(CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
    Set(CURLOPT_MAXREDIRS, kMaxRedirects);
    Set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    // A redirected POST becomes a GET, as in all clients; other methods stay.
    if (request.method != "POST") Set(CURLOPT_POSTREDIR, static_cast<long>(CURL_REDIR_POST_ALL));
  }

  void SetAuthentication(const UrlBinding& binding) {
    if (binding.auth_type == "bearer") {
      Set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
      Set(CURLOPT_XOAUTH2_BEARER, binding.bearer_key.c_str());
    }
    if (binding.auth_type == "basic" || binding.auth_type == "digest") {
      const bool basic = binding.auth_type == "basic";
      Set(CURLOPT_HTTPAUTH, static_cast<long>(basic ? CURLAUTH_BASIC : CURLAUTH_DIGEST));
      Set(CURLOPT_USERNAME, binding.username.c_str());
      Set(CURLOPT_PASSWORD, binding.password.c_str());
    }
  }

  void SetMethod(const HttpRequest& request) {
    const bool post = request.method == "POST";
    const bool head = request.method == "HEAD";
    for (const std::string& header : request.headers) Add(header);
    Add("Expect:");  // no waiting for 100 Continue
    if (head) {
      Set(CURLOPT_NOBODY, 1L);
    } else if (request.source) {
      Set(CURLOPT_POST, 1L);
      Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.source_size));
      Set(CURLOPT_READFUNCTION, &Transfer::OnSource);
      Set(CURLOPT_READDATA, this);
      Set(CURLOPT_SEEKFUNCTION, &Transfer::OnSeek);
      Set(CURLOPT_SEEKDATA, this);
      if (!post) Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    } else if (request.body || post || request.method == "PUT") {
      static const std::string kNothing;
      const std::string& body = request.body ? *request.body : kNothing;
      Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
      Set(CURLOPT_POSTFIELDS, body.data());
      if (!request.body) Add("Content-Type:");  // libcurl would call it a form
      if (!post) Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    } else if (request.method != "GET") {
      Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    Set(CURLOPT_HTTPHEADER, headers_);
  }

  void Add(const std::string& header) {
    headers_ = curl_slist_append(headers_, header.c_str());
    CHECK(headers_ != nullptr);
  }

  static curl_socket_t OnSocket(void* self, curlsocktype, curl_sockaddr* address) {
    auto& transfer = *static_cast<Transfer*>(self);
    const Status allowed = transfer.client_.rules_.Check(&address->addr);
    if (!allowed.ok()) {
      transfer.refused_ = allowed;
      return CURL_SOCKET_BAD;
    }
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  static size_t OnHeader(char* data, size_t, size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view line(data, size);
    if (line.starts_with("HTTP/")) {  // a redirect or a challenge was answered: another response
      transfer.response_.headers.clear();
      transfer.header_bytes_ = 0;
      return size;
    }
    transfer.header_bytes_ += size;
    if (transfer.header_bytes_ > kMaxHeaderBytes) return 0;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size;
    transfer.response_.headers.emplace_back(line.substr(0, colon), line.substr(colon + 1));
    return size;
  }

  static size_t OnSource(char* data, size_t, size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto piece = transfer.request_->source(transfer.sent_, size);
    if (!piece) {
      transfer.ended_ = piece.error();
      return CURL_READFUNC_ABORT;
    }
    piece->copy(data, piece->size());
    transfer.sent_ += piece->size();
    return piece->size();
  }

  // The body is sent again: a connection that was kept open turned out to be closed.
  static int OnSeek(void* self, curl_off_t offset, int origin) {
    if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
    static_cast<Transfer*>(self)->sent_ = static_cast<uint64_t>(offset);
    return CURL_SEEKFUNC_OK;
  }

  static size_t OnBody(char* data, size_t, size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (transfer.request_->sink) {
      if (transfer.response_.status == 0) transfer.NoteHead();
      transfer.ended_ = transfer.request_->sink(transfer.response_, {data, size});
      if (!transfer.request_->passes_on || transfer.request_->passes_on()) transfer.heard_ = Now();
      return transfer.ended_.ok() ? size : 0;
    }
    std::string& body = transfer.response_.body;
    if (body.size() + size > transfer.client_.max_response_bytes_) {
      transfer.too_large_ = true;
      return 0;
    }
    body.append(data, size);
    return size;
  }

  const HttpClient& client_;
  CURL* const easy_;
  const HttpRequest* request_ = nullptr;
  uint64_t sent_ = 0;   // of the source
  Time heard_ = Now();  // when the request began, or bytes were passed on last
  Status ended_;        // by the source or the sink
  curl_slist* headers_ = nullptr;
  HttpResponse response_;
  size_t header_bytes_ = 0;
  CURLcode prepared_ = CURLE_OK;
  bool too_large_ = false;
  Status refused_;
};

namespace {

// Cookies, where allowed, are kept in memory: an empty one has the handle keep them from then on.
// (CURLOPT_COOKIEFILE would be set for every request, and each time curl_easy_reset loses memory.)
Easy MakeEasy(const UrlBinding& binding) {
  Easy easy(curl_easy_init());
  CHECK(easy != nullptr);
  if (binding.allow_cookies) curl_easy_setopt(easy.get(), CURLOPT_COOKIELIST, "Set-Cookie:");
  return easy;
}

}  // namespace

HttpClient::HttpClient(const AddressRules& rules, uint64_t max_response_bytes)
    : rules_(rules),
      max_response_bytes_(max_response_bytes),
      handles_(std::make_unique<Handles>()) {
  StartLibrary();
  handles_->multi.reset(curl_multi_init());
  CHECK(handles_->multi != nullptr);
  curl_multi_setopt(handles_->multi.get(), CURLMOPT_MAXCONNECTS, kMaxConnections);
}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::Send(const UrlBinding& binding, const HttpRequest& request,
                                      const std::atomic<bool>& stop) {
  CURLM* const multi = handles_->multi.get();
  Easy& easy = handles_->by_binding[binding.alias];
  if (easy == nullptr) easy = MakeEasy(binding);
  Transfer transfer(*this, easy.get());
  if (const CURLcode code = transfer.Prepare(binding, request); code != CURLE_OK) {
    return transfer.Finish(code);
  }
  CHECK(curl_multi_add_handle(multi, easy.get()) == CURLM_OK);
  const WaitScope waits;
  int running = 1;
  while (running > 0 && !stop && !transfer.late()) {
    curl_multi_perform(multi, &running);
    if (running > 0) curl_multi_poll(multi, nullptr, 0, kLookAtStopMs, nullptr);
  }
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  }
  curl_multi_remove_handle(multi, easy.get());
  if (running > 0 && !stop) code = CURLE_OPERATION_TIMEDOUT;
  if (running > 0 && stop) {
    return Fail(Code::kCancelled, "curl.stopped", "{}the function stops", kUnable);
  }
  return transfer.Finish(code);
}

}  // namespace sluice::function
