#include "flow_engine/http_task.h"

#include <algorithm>
#include <atomic>
#include <charconv>

#include "base/percent.h"
#include "base/utf8.h"
#include "flow/text_form.h"
#include "flow_engine/answer_pipe.h"
#include "function/curl/http_client.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using function::HttpRequest;
using function::HttpResponse;
using json::Value;
using namespace std::string_view_literals;

constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"};
// Headers of one connection, and headers that libcurl makes itself. It decodes compressed bodies.
constexpr std::string_view kHopHeaders[] = {"connection", "content-length",     "host",
                                            "keep-alive", "proxy-authenticate", "te",
                                            "trailer",    "transfer-encoding",  "upgrade",
                                            "expect",     "accept-encoding",    "content-encoding"};

bool IsHopHeader(const std::string& name) {
  return std::ranges::find(kHopHeaders, name) != std::end(kHopHeaders);
}

Status Invalid(std::string message) {
  return Error(Code::kInvalidArgument, "route.argument", "{}", message);
}

std::string TextOf(const Value& value) {
  return value.is_string() ? std::string(value.AsString()) : json::ToText(value);
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Line breaks would make headers of their own. Those at the end come from files, and do not count.
Status AddHeader(std::string_view name, std::string_view value, HttpRequest* request) {
  value = Trimmed(value);
  constexpr std::string_view kNoName = "\r\n\0: "sv;
  constexpr std::string_view kNoValue = "\r\n\0"sv;
  if (name.empty() || name.find_first_of(kNoName) != std::string_view::npos ||
      value.find_first_of(kNoValue) != std::string_view::npos) {
    return Invalid(fmt::format("'{}' is not a header: it has a line break, or no name", name));
  }
  // libcurl takes "Name:" for a header to be left out, "Name;" for one without a value.
  request->headers.push_back(value.empty() ? fmt::format("{};", name)
                                           : fmt::format("{}: {}", name, value));
  return OkStatus();
}

Status AddHeaders(const Value& headers, HttpRequest* request) {
  for (const json::Field& header : headers.fields()) {
    if (IsHopHeader(flow::LowerCase(header.name()))) continue;
    RETURN_IF_ERROR(AddHeader(header.name(), TextOf(header.value), request));
  }
  return OkStatus();
}

bool HasHeader(const HttpRequest& request, std::string_view name) {
  return std::ranges::any_of(request.headers, [&](const std::string& header) {
    return flow::LowerCase(header).starts_with(name);
  });
}

// Unless the flow sends a trace of its own. An id that is not of W3C's form is also sent as it is.
Status AddTrace(const TaskInput& input, HttpRequest* request) {
  if (input.trace == nullptr || HasHeader(*request, "traceparent:")) return OkStatus();
  RETURN_IF_ERROR(AddHeader("traceparent", TraceParentOf(*input.trace), request));
  if (!input.trace->state.empty() && !HasHeader(*request, "tracestate:")) {
    RETURN_IF_ERROR(AddHeader("tracestate", input.trace->state, request));
  }
  if (IsWireTraceId(input.trace->id) || HasHeader(*request, "x-trace-id:")) return OkStatus();
  return AddHeader("X-Trace-Id", input.trace->id, request);
}

// A stream is sent piece by piece.
Status SetStream(const TaskInput& input, const Value& id, HttpRequest* request) {
  const std::string name = id.is_string() ? std::string(id.AsString()) : json::ToText(id);
  if (input.streams == nullptr) return NoStream(name);
  ASSIGN_OR_RETURN(const StreamPtr stream, input.streams->Find(name));
  request->source_size = stream->size();
  request->source = [stream](uint64_t offset, size_t size) { return stream->Read(offset, size); };
  if (HasHeader(*request, "content-type:")) return OkStatus();
  return AddHeader("Content-Type", "application/octet-stream", request);
}

// Texts and bytes as they are, anything else as JSON.
Status SetBody(const Value& body, HttpRequest* request) {
  if (body.is_missing() || body.is_null()) return OkStatus();
  std::string_view type = "application/json";
  if (body.is_string()) {
    request->body = std::string(body.AsString());
    type = "text/plain";
  } else if (body.is_bytes()) {
    request->body = std::string(body.AsBytes());
    type = "application/octet-stream";
  } else {
    request->body = json::ToText(body);
  }
  if (HasHeader(*request, "content-type:")) return OkStatus();
  return AddHeader("Content-Type", type, request);
}

// A list makes a parameter that comes several times.
void AddQuery(const Value& query, std::string* url) {
  const auto add = [&](std::string_view name, const Value& value) {
    *url += url->find('?') == std::string::npos ? '?' : '&';
    *url += PercentEncode(name) + "=" + PercentEncode(TextOf(value));
  };
  for (const json::Field& field : query.fields()) {
    if (!field.value.is_array()) add(field.name(), field.value);
    for (const Value& item : field.value.items()) add(field.name(), item);
  }
}

// Names in lower case. Of several with one name the values are joined, cookies by `|`.
Value HeadersOf(const HttpResponse& response) {
  Value headers = Value::EmptyObject();
  for (const auto& [name, value] : response.headers) {
    const std::string lower = flow::LowerCase(name);
    if (IsHopHeader(lower) || lower == "date") continue;
    const Value before = headers[lower];
    const std::string_view text = Trimmed(value);
    const std::string_view separator = lower == "set-cookie" ? "|" : ", ";
    headers.Set(lower, before.is_string()
                           ? Value(fmt::format("{}{}{}", before.AsString(), separator, text))
                           : Value(text));
  }
  return headers;
}

Value BodyOf(HttpResponse& response) {
  if (response.body.empty()) return Value(nullptr);
  const std::string& type = response.content_type;
  if (type == "application/json" || type.ends_with("+json")) {
    if (auto value = json::Parse(response.body)) return std::move(*value);
  }
  const bool text = type.starts_with("text/") || type.ends_with("json") || type.ends_with("xml");
  return text && IsValidUtf8(response.body) ? Value(response.body) : Value::Bytes(response.body);
}

class HttpTask : public TaskInstance {
 public:
  explicit HttpTask(const function::Services& services)
      : services_(services), client_(*services.addresses, kMaxHttpAnswerBytes) {}

 protected:
  // Becomes true when nobody waits for the answer any more.
  static const std::atomic<bool>& StopOf(const TaskInput& input) {
    static const std::atomic<bool> kNever{false};
    return input.cancelled == nullptr ? kNever : *input.cancelled;
  }

  Result<HttpResponse> Send(const std::atomic<bool>& stop, const HttpRequest& request,
                            Certificates certificates) {
    function::UrlBinding binding;
    binding.validate_certificate = certificates == Certificates::kChecked;
    binding.alias = binding.validate_certificate ? "checked" : "trusted";
    function::HttpSender& sender = services_.http == nullptr ? client_ : *services_.http;
    return sender.Send(binding, request, stop);
  }

  static TaskOutput FailureOf(const Status& error) {
    if (error.id() == "function.address_refused" || error.id() == "function.own_address") {
      return TaskOutput::Failure(403, error.message());
    }
    if (error.id() == "curl.too_large") return TaskOutput::Failure(502, error.message());
    return TaskOutput::Failure(error);
  }

  static TaskOutput OutputOf(HttpResponse response) {
    TaskOutput output{.status = response.status, .headers = HeadersOf(response)};
    output.body = BodyOf(response);
    return output;
  }

 private:
  const function::Services& services_;
  function::HttpClient client_;
};

class TargetTask final : public HttpTask {
 public:
  TargetTask(const function::Services& services, HttpTarget target)
      : HttpTask(services), target_(std::move(target)) {}

  TaskOutput Run(const TaskInput& input) override {
    const auto request = RequestOf(input);
    if (!request) return TaskOutput::Failure(request.error());
    auto response = Send(StopOf(input), *request, target_.certificates);
    return response ? OutputOf(std::move(*response)) : FailureOf(response.error());
  }

 private:
  Result<HttpRequest> RequestOf(const TaskInput& input) const {
    HttpRequest request;
    request.method = target_.method;
    request.timeout_ms = input.timeout_ms;
    if (target_.timeout_ms != 0)
      request.timeout_ms = std::min(target_.timeout_ms, input.timeout_ms);
    for (const auto& [name, value] : target_.headers) {
      RETURN_IF_ERROR(AddHeader(name, value, &request));
    }
    RETURN_IF_ERROR(AddHeaders(input.headers, &request));
    RETURN_IF_ERROR(AddTrace(input, &request));
    Value body = input.body;
    ASSIGN_OR_RETURN(request.url, FillUrl(&body));
    const bool in_query =
        request.method == "GET" || request.method == "HEAD" || request.method == "DELETE";
    if (in_query) {
      AddQuery(body, &request.url);
    } else {
      RETURN_IF_ERROR(SetBody(body, &request));
    }
    return request;
  }

  // Removes the fields that the URL takes from the body.
  Result<std::string> FillUrl(Value* body) const {
    std::string url;
    std::string_view rest = target_.url;
    for (size_t open; (open = rest.find('{')) != std::string_view::npos;) {
      const size_t close = rest.find('}', open);
      const std::string_view name = rest.substr(open + 1, close - open - 1);
      const Value value = (*body)[name];
      if (value.is_missing() || value.is_null()) {
        return Unexpected(
            Invalid(fmt::format("the url needs '{}', which the input does not have", name)));
      }
      url += rest.substr(0, open);
      url += PercentEncode(TextOf(value));
      body->Remove(name);
      rest.remove_prefix(close + 1);
    }
    url += rest;
    return url;
  }

  const HttpTarget target_;
};

class RequestTask final : public HttpTask {
 public:
  using HttpTask::HttpTask;

  TaskOutput Run(const TaskInput& input) override {
    Certificates certificates = Certificates::kChecked;
    const auto request = RequestOf(input, &certificates);
    if (!request) return TaskOutput::Failure(request.error());
    auto response = Send(StopOf(input), *request, certificates);
    return response ? OutputOf(std::move(*response)) : FailureOf(response.error());
  }

 private:
  static Status CheckFields(const Value& input) {
    constexpr std::string_view kFields[] = {"method",  "host",           "url",       "headers",
                                            "cookies", "query",          "body",      "stream",
                                            "timeout", "trust_all_cert", "parameters"};
    for (const json::Field& field : input.fields()) {
      if (std::ranges::find(kFields, field.name()) == std::end(kFields)) {
        return Invalid(
            fmt::format("async.http.request: '{}' is unknown: expected method, host, url, "
                        "headers, cookies, query, body, stream, timeout or trust_all_cert",
                        field.name()));
      }
    }
    for (const json::Field& field : input["parameters"].fields()) {
      if (field.name() == "query") continue;
      return Invalid(
          fmt::format("async.http.request: 'parameters.{}' is unknown: expected parameters.query",
                      field.name()));
    }
    return OkStatus();
  }

  // Beside a header `cookie` that the flow sends itself.
  static Status AddCookies(const Value& cookies, HttpRequest* request) {
    std::string text;
    for (const json::Field& cookie : cookies.fields()) {
      text += fmt::format("{}{}={}", text.empty() ? "" : "; ", cookie.name(),
                          Trimmed(TextOf(cookie.value)));
    }
    return text.empty() ? OkStatus() : AddHeader("Cookie", text, request);
  }

  static Result<HttpRequest> RequestOf(const TaskInput& input, Certificates* certificates) {
    const Value& body = input.body;
    RETURN_IF_ERROR(CheckFields(body));
    HttpRequest request;
    request.method = body["method"].is_string() ? std::string(body["method"].AsString()) : "GET";
    if (std::ranges::find(kMethods, request.method) == std::end(kMethods)) {
      return Unexpected(Invalid(fmt::format(
          "async.http.request: method: expected GET, POST, PUT, PATCH, DELETE or HEAD, got '{}'",
          request.method)));
    }
    ASSIGN_OR_RETURN(request.url, UrlOf(body));
    AddQuery(body["query"], &request.url);
    AddQuery(body["parameters"]["query"], &request.url);
    request.timeout_ms = input.timeout_ms;
    if (body["timeout"].is_number()) {
      const double asked_ms = body["timeout"].ToDouble() * 1000;
      if (asked_ms >= 1 && asked_ms < static_cast<double>(request.timeout_ms)) {
        request.timeout_ms = static_cast<uint64_t>(asked_ms);
      }
    }
    if (body["trust_all_cert"] == Value(true)) *certificates = Certificates::kTrusted;
    RETURN_IF_ERROR(AddHeaders(input.headers, &request));
    RETURN_IF_ERROR(AddHeaders(body["headers"], &request));
    RETURN_IF_ERROR(AddCookies(body["cookies"], &request));
    RETURN_IF_ERROR(AddTrace(input, &request));
    if (!body["stream"].is_missing()) {
      RETURN_IF_ERROR(SetStream(input, body["stream"], &request));
    } else {
      RETURN_IF_ERROR(SetBody(body["body"], &request));
    }
    return request;
  }

  static Result<std::string> UrlOf(const Value& body) {
    const std::string host(body["host"].is_string() ? body["host"].AsString() : "");
    const std::string path(body["url"].is_string() ? body["url"].AsString() : "");
    const std::string url =
        host.empty() ? path : host + (path.starts_with('/') || path.empty() ? "" : "/") + path;
    if (IsHttpUrl(url)) return url;
    return Unexpected(
        Invalid(fmt::format("async.http.request: expected 'url' such as https://host/path, or "
                            "'host' and 'url', got '{}'",
                            url)));
  }
};

uint64_t DeclaredSize(const HttpResponse& head) {
  uint64_t size = 0;
  for (const auto& [name, value] : head.headers) {
    const std::string_view text = Trimmed(value);
    if (flow::LowerCase(name) != "content-length") continue;
    std::from_chars(text.data(), text.data() + text.size(), size);
  }
  return size;
}

// The body of a relay's answer: in memory, or passed on while it arrives when it is large.
class RelayedBody {
 public:
  RelayedBody(uint64_t max_bytes, AnswerPipe* pipe) : max_bytes_(max_bytes), pipe_(pipe) {}

  Status Add(const HttpResponse& head, std::string_view bytes) {
    if (size_ == 0) declared_ = DeclaredSize(head);
    size_ += bytes.size();
    if (std::max(size_, declared_) > max_bytes_) {
      return Error(Code::kTooLarge, "curl.too_large", "the response has more than {} bytes",
                   max_bytes_);
    }
    if (begun_) return pipe_->Add(bytes);
    memory_.append(bytes);
    if (pipe_ == nullptr || size_ <= kRelayMemoryBytes) return OkStatus();
    begun_ = true;
    pipe_->Begin(HeadOf(head));
    return pipe_->Add(std::exchange(memory_, {}));
  }

  bool begun() const { return begun_; }
  const std::string& memory() const { return memory_; }

  static TaskOutput HeadOf(const HttpResponse& response) {
    TaskOutput head{.status = response.status, .headers = HeadersOf(response)};
    // Each as it is, whatever is in it.
    Value cookies = Value::EmptyArray();
    for (const auto& [name, value] : response.headers) {
      if (flow::LowerCase(name) == "set-cookie") cookies.Append(Value(Trimmed(value)));
    }
    if (cookies.size() > 0) head.headers.Set("set-cookie", std::move(cookies));
    head.headers.Remove(kStreamHeader);
    return head;
  }

 private:
  const uint64_t max_bytes_;
  AnswerPipe* const pipe_;
  bool begun_ = false;  // the pipe has the head, and with it pieces
  uint64_t size_ = 0;
  uint64_t declared_ = 0;  // by the target; 0: it says nothing
  std::string memory_;
};

class RelayTask final : public HttpTask {
 public:
  RelayTask(const function::Services& services, uint64_t max_bytes, std::string host,
            Certificates certificates)
      : HttpTask(services),
        max_bytes_(std::max(max_bytes, kMaxHttpAnswerBytes)),
        host_(std::move(host)),
        certificates_(certificates) {}

  TaskOutput Run(const TaskInput& input) override {
    auto request = RequestOf(input);
    if (!request) return TaskOutput::Failure(request.error());
    AnswerPipe* const pipe = input.streams == nullptr ? nullptr : input.streams->pipe().get();
    RelayedBody body(pipe == nullptr ? kMaxHttpAnswerBytes : max_bytes_, pipe);
    request->passes_on = [&] { return body.begun(); };
    request->sink = [&](const HttpResponse& head, std::string_view bytes) {
      return body.Add(head, bytes);
    };
    auto response = Send(pipe == nullptr ? StopOf(input) : pipe->left(), *request, certificates_);
    if (body.begun()) {
      pipe->End(response ? OkStatus() : response.error());
      return {};  // the pipe's reader has it
    }
    if (!response) return FailureOf(response.error());
    TaskOutput output = RelayedBody::HeadOf(*response);
    output.body = Value::Bytes(body.memory());
    return output;
  }

 private:
  Result<HttpRequest> RequestOf(const TaskInput& input) const {
    HttpRequest request;
    request.method = input.body["method"].AsString();
    request.url = host_;
    request.url += input.body["uri"].AsString();
    request.follow_redirects = false;  // they are the client's
    request.timeout_ms = input.timeout_ms;
    if (input.body["query_string"].is_string()) {
      request.url += input.body["query_string"].AsString();
    }
    RETURN_IF_ERROR(AddHeaders(input.body["header"], &request));
    RETURN_IF_ERROR(AddTrace(input, &request));
    std::string cookies;
    for (const json::Field& cookie : input.body["cookie"].fields()) {
      cookies +=
          fmt::format("{}{}={}", cookies.empty() ? "" : "; ", cookie.name(), TextOf(cookie.value));
    }
    if (!cookies.empty()) RETURN_IF_ERROR(AddHeader("Cookie", cookies, &request));
    if (!input.body["stream"].is_missing()) {
      RETURN_IF_ERROR(SetStream(input, input.body["stream"], &request));
    } else {
      RETURN_IF_ERROR(SetBody(input.body["body"], &request));
    }
    return request;
  }

  const uint64_t max_bytes_;
  const std::string host_;
  const Certificates certificates_;
};

}  // namespace

TaskMaker MakeHttpTask(const function::Services& services, HttpTarget target) {
  return [&services, target]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<TargetTask>(services, target);
  };
}

TaskMaker MakeHttpRequestTask(const function::Services& services) {
  return [&services]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<RequestTask>(services);
  };
}

TaskMaker MakeRelayTask(const function::Services& services, uint64_t max_bytes, std::string host,
                        Certificates certificates) {
  return [&services, max_bytes, host, certificates]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<RelayTask>(services, max_bytes, host, certificates);
  };
}

bool IsHttpUrl(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::string_view host =
        text.substr(scheme.size(), text.find_first_of("/?", scheme.size()) - scheme.size());
    return !host.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
  }
  return false;
}

bool IsHttpHost(std::string_view text) {
  return IsHttpUrl(text) &&
         text.find_first_of("/?#", text.find("//") + 2) == std::string_view::npos;
}

}  // namespace sluice::flow_engine
