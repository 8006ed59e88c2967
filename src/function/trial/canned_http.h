// Answers the HTTP requests of a trial from its file; nothing goes to the network. A request gets
// the first unused answer that fits it.
//
// Any thread.
#pragma once

#include <vector>

#include "base/locked.h"
#include "function/curl/http_sender.h"
#include "function/trial/problem.h"
#include "function/trial/trial.h"

namespace sluice::function::trial {

class CannedHttp final : public HttpSender {
 public:
  explicit CannedHttp(const std::vector<Exchange>& exchanges)
      : exchanges_(exchanges), requests_({.made = std::vector<bool>(exchanges.size())}) {}

  Result<HttpResponse> Send(const UrlBinding& binding, const HttpRequest& request,
                            const std::atomic<bool>& stop) override;
  // The requests so far that the file has no answer for.
  Problems Unexpected() const;
  // The requests of the file that were not made.
  Problems NotMade() const;

 private:
  struct Requests {
    std::vector<bool> made;  // by exchange
    Problems unexpected = {};
  };
  const std::vector<Exchange>& exchanges_;
  Locked<Requests> requests_;
};

}  // namespace sluice::function::trial
