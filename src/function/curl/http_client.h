// The HTTP requests of one handler: libcurl, with the rules of which addresses may be called, a
// bound on the response's size and a deadline.
//
// Connections are kept for later requests, and cookies, for bindings that allow them, as long as
// the client lives. One thread at a time; Send waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "function/curl/address_rules.h"
#include "function/definition.h"

namespace sluice::function {

struct HttpRequest {
  std::string method;                // GET, POST, PUT, HEAD or DELETE
  std::string url;                   // of RequestUrl
  std::vector<std::string> headers;  // "Name: value"
  std::optional<std::string> body;   // not sent with HEAD
  bool follow_redirects = true;
  uint64_t timeout_ms = 0;
};

struct HttpResponse {
  int status = 0;
  // In order. Values are as they came: with the space before and the line's end.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type;  // lower case, without parameters
  std::string body;          // decoded, if it came compressed
};

class HttpClient {
 public:
  HttpClient(const AddressRules& rules, uint64_t max_response_bytes);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Authentication, cookies and certificate checks are the binding's. Ends early when `stop`
  // becomes true. Errors: curl.failed, curl.timeout, curl.too_large, curl.stopped,
  // function.address_refused.
  Result<HttpResponse> Send(const UrlBinding& binding, const HttpRequest& request,
                            const std::atomic<bool>& stop);

 private:
  class Transfer;
  struct Handles;

  const AddressRules& rules_;
  const uint64_t max_response_bytes_;
  const std::unique_ptr<Handles> handles_;
};

}  // namespace sluice::function
