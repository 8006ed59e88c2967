// The server's REST interface as the commands use it. Errors that the server answers become a
// Status with the server's id and message.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "client/client.h"
#include "client/websocket.h"
#include "json/value.h"

namespace sluice::cli {

struct ApiOptions {
  std::string url;
  std::string user = {};
  std::string password = {};
  std::string token = {};
  std::string ca_file = {};
};

using Headers = client::Headers;
using ApiRequest = client::Request;  // its path is encoded: see Segment and Query
using ApiResponse = client::Response;

// One thread. Keeps its connection between calls.
class Api {
 public:
  // client.bad_url when the URL is not http://HOST:PORT or https://HOST:PORT.
  static Result<std::unique_ptr<Api>> Make(const ApiOptions& options);

  // Whatever the status is.
  Result<ApiResponse> CallAny(ApiRequest request);
  // client.refused, or the error that the server answered.
  Result<std::unique_ptr<client::WebSocket>> OpenWebSocket(const std::string& path);
  // Ends the call that waits for the server; a signal handler may call it.
  void Interrupt() { client_.Interrupt(); }
  // A status of 400 and more is an error.
  Result<ApiResponse> Call(const ApiRequest& request);
  // The same when only success matters.
  Status Do(const ApiRequest& request);
  // The answer's body as JSON (null when it is empty).
  Result<json::Value> CallJson(const ApiRequest& request);

  // Gives the body's bytes as they come; a sink that fails ends the call with its error.
  using Sink = client::Consumer;
  Status Stream(ApiRequest request, const Sink& sink);

 private:
  Api(client::Client client, std::string authorization)
      : client_(std::move(client)), authorization_(std::move(authorization)) {}
  Result<ApiResponse> Send(ApiRequest request);

  client::Client client_;
  const std::string authorization_;  // header; empty for none
};

// The answer's body as JSON (null when it is empty).
Result<json::Value> JsonOf(const ApiResponse& response);

// One path segment, percent-encoded.
std::string Segment(std::string_view text);
// "?a=1&b=2" of those pairs whose value is not empty.
std::string Query(const std::vector<std::pair<std::string, std::string>>& pairs);

// A string in an answer; empty when the server sent something else.
std::string TextOf(const json::Value& value);

// The Status of an answer of 400 and more.
Status ErrorOf(int http_status, std::string_view body);

// Cuts a stream of bytes into lines, whatever pieces it comes in. A line may have at most
// `max_bytes`.
class LineSplitter {
 public:
  using Visitor = std::function<Status(std::string_view line)>;
  LineSplitter(size_t max_bytes, Visitor visitor)
      : max_bytes_(max_bytes), visitor_(std::move(visitor)) {}

  Status Feed(std::string_view bytes);
  // The rest that has no line end.
  Status Finish();

 private:
  const size_t max_bytes_;
  const Visitor visitor_;
  std::string partial_;
};

}  // namespace sluice::cli
