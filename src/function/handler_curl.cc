// The native of library/curl.js.
#include "function/curl/http_client.h"
#include "function/curl/url.h"
#include "function/handler.h"

namespace sluice::function {
namespace {

constexpr uint64_t kMaxResponseMb = 1024;  // of a function that asks for no limit

uint64_t MaxResponseBytes(const Settings& settings) {
  const uint64_t mb = settings.curl_max_response_mb;
  return (mb == 0 ? kMaxResponseMb : mb) << 20;
}

// How the library makes a value of the body.
std::string_view KindOf(const HttpResponse& response) {
  const std::string& type = response.content_type;
  if (type.starts_with("text/")) return "text";
  if (type == "application/json") return "json";
  if (type == "application/x-www-form-urlencoded") return "form";
  return "bytes";
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

Count& CountOf(Statistics& counts, std::string_view method) {
  if (method == "GET") return counts.curl_get;
  if (method == "POST") return counts.curl_post;
  if (method == "PUT") return counts.curl_put;
  if (method == "HEAD") return counts.curl_head;
  return counts.curl_delete;
}

void CountFailure(Statistics& counts, const Status& status) {
  if (status.id() == "curl.timeout") {
    ++counts.curl_timeouts;
  } else if (status.id() == "curl.too_large") {
    ++counts.curl_too_large;
  } else {
    ++counts.curl_failures;
  }
}

// "/a/b" of "http://h:1/a/b?c".
std::string PathOf(const std::string& url) {
  const size_t host = url.find("://");
  const size_t from = host == std::string::npos ? host : url.find('/', host + 3);
  if (from == std::string::npos) return "/";
  return url.substr(from, url.find_first_of("?#", from) - from);
}

void Answer(script::Call& call, const HttpResponse& response) {
  const std::string_view kind = KindOf(response);
  std::vector<script::Argument> values = {static_cast<double>(response.status), kind};
  if (response.body.empty()) {
    values.emplace_back(script::Null{});
  } else if (kind == "bytes") {
    values.emplace_back(script::Bytes{response.body});
  } else {
    values.emplace_back(std::string_view(response.body));
  }
  for (const auto& [name, value] : response.headers) {
    values.emplace_back(std::string_view(name));
    values.emplace_back(std::string_view(value));
  }
  call.ReturnList(values);
}

}  // namespace

std::vector<script::Native> Handler::CurlNatives() {
  return {{"curl", [this](script::Call& call) { Curl(call); }}};
}

HttpSender& Handler::Http() {
  if (services_.http != nullptr) return *services_.http;
  if (http_ == nullptr) {
    http_ =
        std::make_unique<HttpClient>(*services_.addresses, MaxResponseBytes(definition_->settings));
  }
  return *http_;
}

// binding, method, path, query, headers as lines, body, whether to follow redirects, seconds or 0.
void Handler::Curl(script::Call& call) {
  if (!*services_.curl_allowed) {
    return call.Throw("CurlError", "Ability to make curl calls is disabled");
  }
  const auto index = static_cast<size_t>(call.Number(0));
  if (index >= definition_->urls.size()) return call.Throw("CurlError", "there is no such binding");
  const UrlBinding& binding = definition_->urls[index];
  HttpRequest request;
  request.method = call.String(1);
  request.url = RequestUrl(binding.hostname, call.String(2), call.String(3));
  request.headers = Lines(call.String(4));
  if (call.kind(5) == script::Kind::kString) request.body = call.String(5);
  if (call.kind(5) == script::Kind::kBytes) request.body = std::string(call.Bytes(5));
  request.follow_redirects = call.Boolean(6);
  request.timeout_ms = RemainingMs();
  const auto asked_ms = static_cast<uint64_t>(call.Number(7)) * 1000;
  if (asked_ms != 0) request.timeout_ms = std::min(request.timeout_ms, asked_ms);
  if (limited_) {
    cut_short_ = true;
    return call.Throw("CurlError", "the event has to be run by itself");
  }
  called_out_ = true;
  Statistics& counts = *statistics_;
  ++CountOf(counts, request.method);
  const uint64_t began_ns = services_.clock.MonotonicNs();
  const Result<HttpResponse> response = Http().Send(binding, request, *stop_);
  counts.curl_latency.Add((services_.clock.MonotonicNs() - began_ns) / 1000);
  if (!response) {
    interrupted_ |= response.error().id() == "curl.stopped";
    CountFailure(counts, response.error());
    return call.Throw("CurlError", response.error().id() == "function.own_address"
                                       ? "The curl call tried accessing a restricted endpoint: " +
                                             PathOf(request.url)
                                       : response.error().message());
  }
  ++(response->status == 200 ? counts.curl_successes : counts.curl_other_statuses);
  Answer(call, *response);
}

}  // namespace sluice::function
