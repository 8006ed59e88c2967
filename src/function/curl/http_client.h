// Sends the HTTP requests of one handler by libcurl, with rules for addresses, a bound on the
// response's size and a deadline.
//
// The client keeps connections for later requests, and cookies for bindings that allow them, for as
// long as it lives. One thread at a time; Send waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "function/curl/address_rules.h"
#include "function/curl/http_sender.h"

namespace sluice::function {

class HttpClient final : public HttpSender {
 public:
  HttpClient(const AddressRules& rules, uint64_t max_response_bytes);
  ~HttpClient() override;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // The binding says how to authenticate, whether to keep cookies and whether to check
  // certificates. Ends early when `stop` becomes true. Errors: curl.failed, curl.timeout,
  // curl.too_large, curl.stopped, function.address_refused.
  Result<HttpResponse> Send(const UrlBinding& binding, const HttpRequest& request,
                            const std::atomic<bool>& stop) override;

 private:
  class Transfer;
  struct Handles;

  const AddressRules& rules_;
  const uint64_t max_response_bytes_;
  const std::unique_ptr<Handles> handles_;
};

}  // namespace sluice::function
