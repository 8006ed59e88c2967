// The HTTP requests of one handler: libcurl, with the rules of which addresses may be called, a
// bound on the response's size and a deadline.
//
// Connections are kept for later requests, and cookies, for bindings that allow them, as long as
// the client lives. One thread at a time; Send waits.
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

  // Authentication, cookies and certificate checks are the binding's. Ends early when `stop`
  // becomes true. Errors: curl.failed, curl.timeout, curl.too_large, curl.stopped,
  // function.address_refused.
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
