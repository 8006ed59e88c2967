#include "http/rest/flow_dataset.h"

#include <algorithm>

#include "flow/text_form.h"
#include "http/url.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::http::rest {
namespace {

using flow::LowerCase;
using json::Value;

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool Passes(const route::HeaderRules& rules, const std::string& name) {
  if (!rules.keep.empty()) return Contains(rules.keep, name);
  return !Contains(rules.drop, name);
}

Value HeadersOf(const Request& request, const route::Endpoint& endpoint) {
  Value headers = Value::EmptyObject();
  const route::HeaderRules none;
  const route::HeaderRules& rules = endpoint.headers == nullptr ? none : endpoint.headers->request;
  for (const Header& header : request.headers()) {
    const std::string name = LowerCase(header.name);
    if (name != "cookie" && Passes(rules, name)) headers.Set(name, Value(header.value));
  }
  for (const auto& [name, value] : rules.add) headers.Set(LowerCase(name), Value(value));
  return headers;
}

Value CookiesOf(const Request& request) {
  Value cookies = Value::EmptyObject();
  std::string_view rest = request.FindHeader("cookie").value_or("");
  while (!rest.empty()) {
    const size_t end = rest.find(';');
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    cookies.Set(one.substr(0, equals), Value(one.substr(equals + 1)));
  }
  return cookies;
}

// A name that comes again makes a list.
void AddQuery(std::string_view name, std::string_view value, Value* query) {
  const Value present = (*query)[name];
  if (present.is_missing()) return query->Set(name, Value(value));
  Value list = present.is_array() ? present : Value::Array({present});
  list.Append(Value(value));
  query->Set(name, std::move(list));
}

std::string_view MediaType(std::string_view content_type) {
  return content_type.substr(0, content_type.find_first_of("; "));
}

Status AddBody(const Request& request, Value* dataset, Value* query) {
  const std::string type = LowerCase(MediaType(request.FindHeader("content-type").value_or("")));
  if (request.body().empty()) return OkStatus();
  if (type == "application/json" || type.ends_with("+json")) {
    auto body = json::Parse(request.body());
    if (!body) {
      return Error(Code::kInvalidArgument, "flow.bad_body", "the body is no JSON: {}",
                   body.error().message());
    }
    dataset->Set("body", std::move(*body));
  } else if (type == "application/x-www-form-urlencoded") {
    const auto pairs = ParseQuery(request.body());
    if (!pairs) {
      return Error(Code::kInvalidArgument, "flow.bad_body", "the body has a malformed escape");
    }
    for (const auto& [name, value] : *pairs) AddQuery(name, value, query);
  } else if (type.starts_with("text/") || type == "application/xml") {
    dataset->Set("body", Value(request.body()));
  } else {
    dataset->Set("body", Value::Bytes(request.body()));
  }
  return OkStatus();
}

std::string AddressOf(const Request& request) {
  const std::string& remote = request.remote();
  return remote.substr(0, remote.rfind(':'));
}

bool Accepts(const Request& request, std::string_view type) {
  return request.FindHeader("accept").value_or("").find(type) != std::string_view::npos;
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

Result<Value> DatasetOf(const Request& request, const route::Endpoint& endpoint,
                        const std::vector<std::pair<std::string, std::string>>& parameters) {
  Value dataset = Value::Object({{"method", MethodName(request.method())}});
  dataset.Set("uri", Value(request.path()));
  dataset.Set("header", HeadersOf(request, endpoint));
  dataset.Set("cookie", CookiesOf(request));
  Value path = Value::EmptyObject();
  for (const auto& [name, value] : parameters) path.Set(name, Value(value));
  dataset.Set("path_parameter", std::move(path));
  Value query = Value::EmptyObject();
  for (const auto& [name, value] : request.query()) AddQuery(name, value, &query);
  RETURN_IF_ERROR(AddBody(request, &dataset, &query));
  dataset.Set("query", std::move(query));
  dataset.Set("ip", AddressOf(request));
  return dataset;
}

void AnswerError(int status, const Value& message, Response& response) {
  const Value body =
      message.is_object() && message["type"] == Value("error")
          ? message
          : Value::Object({{"type", "error"}, {"status", status}, {"message", message}});
  response.Json(status, json::ToText(body));
}

void Answer(const Request& request, const route::Endpoint& endpoint, route::Reply reply,
            Response& response) {
  if (reply.status < 100 || reply.status > 599) reply.status = 500;
  std::string content_type;
  const route::HeaderRules none;
  const route::HeaderRules& rules = endpoint.headers == nullptr ? none : endpoint.headers->response;
  for (const json::Field& header : reply.headers.fields()) {
    const std::string name = LowerCase(header.name());
    if (!header.value.is_string() || !Passes(rules, name)) continue;
    if (name == "content-type") {
      content_type = header.value.AsString();
    } else {
      response.AddHeader(header.name(), header.value.AsString());
    }
  }
  for (const auto& [name, value] : rules.add) response.AddHeader(name, value);
  if (endpoint.cors != nullptr) {
    for (const auto& [name, value] : endpoint.cors->headers) response.AddHeader(name, value);
  }
  const Value& body = reply.body;
  if (reply.status >= 400 && content_type.empty() && !body.is_array()) {
    return AnswerError(reply.status, body.is_missing() ? Value("") : body, response);
  }
  if (body.is_missing() || body.is_null()) {
    return response.Body(reply.status, content_type, "");
  }
  if (body.is_bytes()) {
    return response.Body(reply.status,
                         content_type.empty() ? "application/octet-stream" : content_type,
                         std::string(body.AsBytes()));
  }
  if (body.is_string()) {
    if (content_type.empty())
      content_type = Accepts(request, "text/html") ? "text/html" : "text/plain";
    return response.Body(reply.status, content_type, std::string(body.AsString()));
  }
  if (content_type.empty() && Accepts(request, "text/html")) {
    return response.Body(
        reply.status, "text/html",
        "<html><body><pre>\n" + Escaped(json::ToText(body)) + "\n</pre></body></html>");
  }
  response.Body(reply.status, content_type.empty() ? "application/json" : content_type,
                json::ToText(body));
}

}  // namespace sluice::http::rest
