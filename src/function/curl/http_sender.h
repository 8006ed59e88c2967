// What answers the HTTP requests of handlers: the network (http_client.h), or a trial's file
// (trial/canned_http.h).
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
  // In order. Values are as they came: with the space before and the line's end.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type;  // lower case, without parameters
  std::string body;          // decoded, if it came compressed
};

struct HttpRequest {
  std::string method;                // GET, POST, PUT, HEAD or DELETE
  std::string url;                   // of RequestUrl
  std::vector<std::string> headers;  // "Name: value"
  std::optional<std::string> body;   // not sent with HEAD
  // Instead of `body`, for one that is too large for memory: its size, and a piece of it. The error
  // of a piece that can't be had ends the request.
  uint64_t source_size = 0;
  std::function<Result<std::string>(uint64_t offset, size_t size)> source = nullptr;
  // Takes the response's body as it comes, and may wait; then it is not bounded, and not in the
  // response. Status and headers are in the head. An error ends the request.
  std::function<Status(const HttpResponse& head, std::string_view bytes)> sink = nullptr;
  bool follow_redirects = true;
  // Of the whole request; but while a sink passes bytes on (null: always) of each wait for more.
  uint64_t timeout_ms = 0;
  std::function<bool()> passes_on = nullptr;
};

// "application/json" of " Application/JSON; charset=utf-8".
std::string MediaType(std::string_view content_type);

class HttpSender {
 public:
  virtual ~HttpSender() = default;
  // Waits. Its error is what the handler's CurlError says.
  virtual Result<HttpResponse> Send(const UrlBinding& binding, const HttpRequest& request,
                                    const std::atomic<bool>& stop) = 0;
};

}  // namespace sluice::function
