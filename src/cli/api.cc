#include "cli/api.h"

#include <algorithm>
#include <cctype>

#include "base/base64.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

// A backup of a large database answers when it is done.
constexpr uint64_t kLongestSilenceMs = 30 * 60'000;

Code CodeOfHttpStatus(int http_status) {
  switch (http_status) {
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kForbidden;
    case 404:
      return Code::kNotFound;
    case 408:
    case 504:
      return Code::kTimeout;
    case 409:
    case 412:
      return Code::kConflict;
    case 413:
    case 431:
      return Code::kTooLarge;
    case 429:
      return Code::kOverloaded;
    case 501:
      return Code::kUnsupported;
    case 502:
    case 503:
      return Code::kUnavailable;
    case 507:
      return Code::kNoSpace;
    default:
      return http_status < 500 ? Code::kInvalidArgument : Code::kInternal;
  }
}

uint32_t PlaceNumber(const json::Value& value) {
  return value.is_int() && value.AsInt() > 0 ? static_cast<uint32_t>(value.AsInt()) : 0;
}

std::string AuthorizationOf(const ApiOptions& options) {
  if (!options.token.empty()) return "Bearer " + options.token;
  if (options.user.empty()) return "";
  return "Basic " + ToBase64(options.user + ":" + options.password);
}

}  // namespace

std::string Segment(std::string_view text) {
  constexpr std::string_view kUnreserved = "-._~";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || kUnreserved.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", byte);
    }
  }
  return encoded;
}

std::string Query(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string query;
  for (const auto& [name, value] : pairs) {
    if (value.empty()) continue;
    query += query.empty() ? '?' : '&';
    query += name + "=" + Segment(value);
  }
  return query;
}

std::string TextOf(const json::Value& value) {
  return value.is_string() ? std::string(value.AsString()) : "";
}

namespace {

// Of the functions' interface: {"name": "ERR_...", "code": n, "description": ..., "id": ...}, whose
// 4xx codes do not distinguish a wrong state from wrong data. The description of an error in code
// is an object with a description.
Status FunctionError(int http_status, const json::Value& error) {
  constexpr std::string_view kConflicts[] = {"function.already_deployed", "function.already_paused",
                                             "function.not_deployed",     "function.not_undeployed",
                                             "function.recursion",        "function.shared_source"};
  const std::string_view id = error["id"].AsString();
  const bool conflict = std::ranges::find(kConflicts, id) != std::end(kConflicts);
  const json::Value& description = error["description"];
  const json::Value& text = description.is_object() ? description["description"] : description;
  return Status(conflict ? Code::kConflict : CodeOfHttpStatus(http_status), id,
                text.is_string() ? std::string(text.AsString()) : json::ToText(text));
}

}  // namespace

Status ErrorOf(int http_status, std::string_view body) {
  const auto parsed = json::Parse(body);
  if (parsed && (*parsed)["id"].is_string() && !(*parsed)["description"].is_missing()) {
    return FunctionError(http_status, *parsed);
  }
  const json::Value error = parsed ? (*parsed)["error"] : json::Value();
  if (!error["id"].is_string() || !error["message"].is_string()) {
    return Error(CodeOfHttpStatus(http_status), "cli.bad_answer",
                 "the server answered {} without an error of Sluice's; is it a Sluice server?",
                 http_status);
  }
  Status status(CodeOfHttpStatus(http_status), error["id"].AsString(),
                std::string(error["message"].AsString()));
  Place place;
  for (const json::Field& field : error.fields()) {
    if (field.name() == "id" || field.name() == "message") continue;
    if (field.name() == "file" && field.value.is_string()) {
      place.file = field.value.AsString();
    } else if (field.name() == "line") {
      place.line = PlaceNumber(field.value);
    } else if (field.name() == "column") {
      place.column = PlaceNumber(field.value);
    } else {
      status = status.With(std::string(field.name()), field.value.is_string()
                                                          ? std::string(field.value.AsString())
                                                          : json::ToText(field.value));
    }
  }
  return place.file.empty() && place.line == 0 ? status : status.At(place);
}

Result<json::Value> JsonOf(const ApiResponse& response) {
  if (response.body.empty()) return json::Value(nullptr);
  auto parsed = json::Parse(response.body, {.max_bytes = SIZE_MAX});
  if (!parsed) {
    return Fail(Code::kInternal, "cli.bad_answer", "the server's answer is not JSON: {}",
                parsed.error().message());
  }
  return parsed;
}

Result<std::unique_ptr<Api>> Api::Make(const ApiOptions& options) {
  ASSIGN_OR_RETURN(client::Client client,
                   client::Client::Make(options.url, {.io_timeout_ms = kLongestSilenceMs,
                                                      .ca_file = options.ca_file}));
  return std::unique_ptr<Api>(new Api(std::move(client), AuthorizationOf(options)));
}

Result<ApiResponse> Api::CallAny(ApiRequest request) {
  if (!authorization_.empty()) request.headers.emplace_back("Authorization", authorization_);
  return client_.Send(request);
}

Result<std::unique_ptr<client::WebSocket>> Api::OpenWebSocket(const std::string& path) {
  ApiRequest request{.path = path};
  if (!authorization_.empty()) request.headers.emplace_back("Authorization", authorization_);
  ApiResponse refusal;
  auto socket = client_.OpenWebSocket(request, &refusal);
  if (!socket && refusal.status >= 400) return Unexpected(ErrorOf(refusal.status, refusal.body));
  return socket;
}

Result<ApiResponse> Api::Send(ApiRequest request) {
  ASSIGN_OR_RETURN(ApiResponse response, CallAny(std::move(request)));
  if (response.status >= 400) return Unexpected(ErrorOf(response.status, response.body));
  return response;
}

Result<ApiResponse> Api::Call(const ApiRequest& request) { return Send(request); }

Status Api::Stream(ApiRequest request, const Sink& sink) {
  request.consumer = sink;
  const auto response = Send(std::move(request));
  return response ? OkStatus() : response.error();
}

Status Api::Do(const ApiRequest& request) {
  const auto response = Call(request);
  return response ? OkStatus() : response.error();
}

Result<json::Value> Api::CallJson(const ApiRequest& request) {
  ASSIGN_OR_RETURN(const ApiResponse response, Call(request));
  return JsonOf(response);
}

Status LineSplitter::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    if (partial_.size() + end > max_bytes_) {
      return Error(Code::kTooLarge, "cli.bad_answer",
                   "the server sent a line of more than {} bytes", max_bytes_);
    }
    if (end == bytes.size()) {
      partial_ += bytes;
      return OkStatus();
    }
    if (partial_.empty()) {
      RETURN_IF_ERROR(visitor_(bytes.substr(0, end)));
    } else {
      partial_ += bytes.substr(0, end);
      RETURN_IF_ERROR(visitor_(std::exchange(partial_, {})));
    }
    bytes.remove_prefix(end + 1);
  }
  return OkStatus();
}

Status LineSplitter::Finish() {
  return partial_.empty() ? OkStatus() : visitor_(std::exchange(partial_, {}));
}

}  // namespace sluice::cli
