#include "function/trial/canned_http.h"

#include <strings.h>

#include "function/trial/path.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function::trial {
namespace {

using json::Value;

Value HeaderOf(const HttpRequest& request, std::string_view name) {
  for (const std::string& line : request.headers) {
    const size_t colon = line.find(':');
    if (colon == name.size() && strncasecmp(line.data(), name.data(), colon) == 0) {
      const size_t from = line.find_first_not_of(' ', colon + 1);
      return Value(from == std::string::npos ? "" : line.substr(from));
    }
  }
  return {};
}

// The body in the form of the file: text if the file expects text, else the JSON value if it is
// one.
Value BodyOf(const HttpRequest& request, const Value& expected) {
  if (!request.body) return {};
  if (expected.is_string()) return Value(*request.body);
  const Result<Value> parsed = json::Parse(*request.body);
  return parsed ? *parsed : Value(*request.body);
}

// The request has the method and the URL of the exchange.
Problems Differences(const Exchange& exchange, const HttpRequest& request,
                     const std::string& where) {
  Problems problems;
  for (const json::Field& header : exchange.headers.fields()) {
    const Value got = HeaderOf(request, header.name());
    Compare(header.value, got, Below(Below(where, "headers"), header.name()), &problems);
  }
  if (!exchange.body.is_missing()) {
    Compare(exchange.body, BodyOf(request, exchange.body), Below(where, "body"), &problems);
  }
  return problems;
}

HttpResponse ResponseOf(const Exchange& exchange) {
  HttpResponse response{.status = exchange.status};
  const bool text = exchange.response_body.is_string();
  if (text) response.body = exchange.response_body.AsString();
  if (!text && !exchange.response_body.is_missing()) {
    response.body = json::ToText(exchange.response_body);
  }
  for (const auto& [name, value] : exchange.response_headers) {
    if (strcasecmp(name.c_str(), "Content-Type") == 0) response.content_type = MediaType(value);
    response.headers.emplace_back(name, " " + value + "\r\n");
  }
  if (response.content_type.empty() && !response.body.empty()) {
    response.content_type = text ? "text/plain" : "application/json";
    response.headers.emplace_back("Content-Type", " " + response.content_type + "\r\n");
  }
  return response;
}

}  // namespace

Result<HttpResponse> CannedHttp::Send(const UrlBinding&, const HttpRequest& request,
                                      const std::atomic<bool>&) {
  const auto requests = requests_.Lock();
  Problems nearly;
  for (size_t i = 0; i < exchanges_.size(); ++i) {
    const Exchange& exchange = exchanges_[i];
    if (requests->made[i] || exchange.method != request.method || exchange.url != request.url)
      continue;
    const std::string where = Below(Below("http", i), "request");
    Problems differences = Differences(exchange, request, where);
    if (!differences.empty()) {
      if (nearly.empty()) nearly = std::move(differences);
      continue;
    }
    requests->made[i] = true;
    if (exchange.error.empty()) return ResponseOf(exchange);
    return Fail(Code::kUnavailable, "curl.failed", "Unable to perform the request: {}",
                exchange.error);
  }
  if (nearly.empty()) {
    std::string text =
        fmt::format("expected no more requests, got {} {}", request.method, request.url);
    if (request.body) text += " with the body " + Short(BodyOf(request, {}));
    nearly.push_back({"http", std::move(text)});
  }
  requests->unexpected.insert(requests->unexpected.end(), nearly.begin(), nearly.end());
  return Fail(Code::kUnavailable, "curl.failed",
              "Unable to perform the request: the test has no answer for {} {}", request.method,
              request.url);
}

Problems CannedHttp::Unexpected() const { return requests_.Lock()->unexpected; }

Problems CannedHttp::NotMade() const {
  const auto requests = requests_.Lock();
  Problems problems;
  for (size_t i = 0; i < exchanges_.size(); ++i) {
    if (requests->made[i]) continue;
    problems.push_back({Below("http", i), fmt::format("expected {} {}, which was not requested",
                                                      exchanges_[i].method, exchanges_[i].url)});
  }
  return problems;
}

}  // namespace sluice::function::trial
