// The interface by which handlers send HTTP requests. The network (http_client.h) or a trial's file
// (trial/canned_http.h) answers them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "function/definition.h"

namespace sluice::function {

struct HttpResponse {
  int status = 0;
  // In order. Values are as received, with the space before and the end of the line.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type;  // lower case, without parameters
  std::string body;          // decoded, if it came compressed
};

struct HttpRequest {
  std::string method;                // GET, POST, PUT, HEAD or DELETE
  std::string url;                   // made by RequestUrl
  std::vector<std::string> headers;  // "Name: value"
  std::optional<std::string> body;   // not sent with HEAD
  // In place of `body`, for a body that is too large for memory: its size, and a function that
  // reads a piece. An error of that function ends the request.
  uint64_t source_size = 0;
  std::function<Result<std::string>(uint64_t offset, size_t size)> source = nullptr;
  // If set, it takes the pieces of the response's body, and may wait. Such a body has no bound and
  // is not in the response. `head` has the status and the headers. An error ends the request.
  std::function<Status(const HttpResponse& head, std::string_view bytes)> sink = nullptr;
  bool follow_redirects = true;
  // The time limit of the whole request. While `passes_on` returns true (null: always) and there is
  // a sink, it is the limit of each wait for more bytes instead.
  uint64_t timeout_ms = 0;
  std::function<bool()> passes_on = nullptr;
};

// Returns "application/json" for " Application/JSON; charset=utf-8".
std::string MediaType(std::string_view content_type);

class HttpSender {
 public:
  virtual ~HttpSender() = default;
  // Waits for the response. The handler's CurlError has the error's message.
  virtual Result<HttpResponse> Send(const UrlBinding& binding, const HttpRequest& request,
                                    const std::atomic<bool>& stop) = 0;
};

}  // namespace sluice::function
