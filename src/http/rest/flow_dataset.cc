#include "http/rest/flow_dataset.h"

#include <algorithm>

#include "base/utf8.h"
#include "flow/text_form.h"
#include "http/rest/multipart.h"
#include "http/rest/xml.h"
#include "http/url.h"
#include "json/parse.h"
#include "json/print.h"
#include "route/path_parts.h"

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

bool IsText(std::string_view type) { return type.starts_with("text/"); }

// Text that is none stays bytes.
Value TextOrBytes(std::string_view bytes) {
  return IsValidUtf8(bytes) ? Value(bytes) : Value::Bytes(bytes);
}

// Plain fields are fields of a form; the first file is the body, and all are in `parts`.
Status AddParts(const Request& request, Value* dataset, Value* query) {
  ASSIGN_OR_RETURN(const std::vector<Part> parts,
                   ParseMultipart(*request.FindHeader("content-type"), request.body()));
  Value files = Value::EmptyArray();
  for (const Part& part : parts) {
    if (part.filename.empty()) {
      if (!IsValidUtf8(part.body)) {
        return Error(Code::kInvalidArgument, "flow.bad_body", "field '{}' is no UTF-8", part.name);
      }
      AddQuery(part.name, part.body, query);
      continue;
    }
    const Value body = IsText(part.content_type) ? TextOrBytes(part.body) : Value::Bytes(part.body);
    if (files.size() == 0) {
      dataset->Set("filename", TextOrBytes(part.filename));
      dataset->Set("size", Value::Unsigned(part.body.size()));
      dataset->Set("body", body);
    }
    files.Append(Value::Object({{"name", TextOrBytes(part.name)},
                                {"filename", TextOrBytes(part.filename)},
                                {"content_type", part.content_type},
                                {"size", Value::Unsigned(part.body.size())},
                                {"body", body}}));
  }
  dataset->Set("parts", std::move(files));
  return OkStatus();
}

Status AddJson(const Request& request, Value* dataset) {
  auto body = json::Parse(request.body());
  if (!body) {
    return Error(Code::kInvalidArgument, "flow.bad_body", "the body is no JSON: {}",
                 body.error().message());
  }
  dataset->Set("body", std::move(*body));
  return OkStatus();
}

Status AddForm(const Request& request, Value* query) {
  const auto pairs = ParseQuery(request.body());
  if (!pairs) {
    return Error(Code::kInvalidArgument, "flow.bad_body", "the body has a malformed escape");
  }
  for (const auto& [name, value] : *pairs) AddQuery(name, value, query);
  return OkStatus();
}

Status AddBody(const Request& request, const route::Endpoint& endpoint, Value* dataset,
               Value* query) {
  const std::string type = LowerCase(MediaType(request.FindHeader("content-type").value_or("")));
  if (request.body().empty()) return OkStatus();
  if (endpoint.relay.empty()) {
    const bool xml = type == "application/xml" || type == "text/xml" || type.ends_with("+xml");
    if (type == "application/json" || type.ends_with("+json")) return AddJson(request, dataset);
    if (type == "application/x-www-form-urlencoded") return AddForm(request, query);
    if (type == "multipart/form-data" && endpoint.upload) return AddParts(request, dataset, query);
    if (xml && request.FindHeader("x-raw-xml").value_or("") != "true") {
      ASSIGN_OR_RETURN(Value body, ParseXml(request.body()));
      dataset->Set("body", std::move(body));
      return OkStatus();
    }
    if (xml || IsText(type)) {
      dataset->Set("body", TextOrBytes(request.body()));
      return OkStatus();
    }
  }
  dataset->Set("body", Value::Bytes(request.body()));
  return OkStatus();
}

std::string AddressOf(const Request& request) {
  const std::string& remote = request.remote();
  return remote.substr(0, remote.rfind(':'));
}

bool Accepts(const Request& request, std::string_view type) {
  return request.FindHeader("accept").value_or("").find(type) != std::string_view::npos;
}

// What a value without a content type is sent as.
enum class Form : uint8_t { kJson, kHtml, kXml };
Form FormOf(const Request& request) {
  if (Accepts(request, "application/json")) return Form::kJson;
  if (Accepts(request, "text/html")) return Form::kHtml;
  return Accepts(request, "application/xml") || Accepts(request, "text/xml") ? Form::kXml
                                                                             : Form::kJson;
}

void AnswerValue(const Request& request, int status, const Value& value, Response& response) {
  switch (FormOf(request)) {
    case Form::kJson:
      return response.Json(status, json::ToText(value));
    case Form::kHtml:
      return response.Body(
          status, "text/html",
          "<html><body><pre>\n" + EscapeMarkup(json::ToText(value)) + "\n</pre></body></html>");
    case Form::kXml:
      return response.Body(status, "application/xml", PrintXml(value));
  }
}

// Several cookies are one text, with `|` between them.
void AddHeader(std::string_view name, std::string_view value, Response& response) {
  if (!EqualsIgnoreCase(name, "set-cookie")) return response.AddHeader(name, value);
  while (!value.empty()) {
    const size_t bar = value.find('|');
    response.AddHeader(name, value.substr(0, bar));
    value.remove_prefix(bar == std::string_view::npos ? value.size() : bar + 1);
  }
}

// The path at the target of a relay. One with dot segments could lead out of what is relayed.
Result<std::string> RewrittenPath(const Request& request, const route::Endpoint& endpoint) {
  const std::string path(request.path());
  for (const std::string_view part : route::SplitPath(path)) {
    const auto decoded = PercentDecode(part);
    if (!decoded || *decoded == "." || *decoded == ".." ||
        decoded->find_first_of("/\\") != std::string::npos) {
      return Fail(Code::kInvalidArgument, "flow.bad_path",
                  "'{}' can't be in a path that is relayed", part);
    }
  }
  if (!LowerCase(path).starts_with(LowerCase(endpoint.rewrite_from))) {
    return Fail(Code::kInvalidArgument, "flow.bad_path", "the path does not begin with '{}'",
                endpoint.rewrite_from);
  }
  return endpoint.rewrite_to + path.substr(endpoint.rewrite_from.size());
}

}  // namespace

Result<Value> DatasetOf(const Request& request, const route::Endpoint& endpoint,
                        const std::vector<std::pair<std::string, std::string>>& parameters) {
  Value dataset = Value::Object({{"method", MethodName(request.method())}});
  if (endpoint.relay.empty()) {
    dataset.Set("uri", Value(request.path()));
  } else {
    ASSIGN_OR_RETURN(const std::string uri, RewrittenPath(request, endpoint));
    dataset.Set("uri", Value(uri));
  }
  dataset.Set("header", HeadersOf(request, endpoint));
  dataset.Set("cookie", CookiesOf(request));
  Value path = Value::EmptyObject();
  for (const auto& [name, value] : parameters) path.Set(name, Value(value));
  dataset.Set("path_parameter", std::move(path));
  Value query = Value::EmptyObject();
  for (const auto& [name, value] : request.query()) AddQuery(name, value, &query);
  RETURN_IF_ERROR(AddBody(request, endpoint, &dataset, &query));
  dataset.Set("query", std::move(query));
  dataset.Set("ip", AddressOf(request));
  return dataset;
}

void AnswerError(const Request& request, int status, const Value& message, Response& response) {
  const Value body =
      message.is_object() && message["type"] == Value("error")
          ? message
          : Value::Object({{"type", "error"}, {"status", status}, {"message", message}});
  AnswerValue(request, status, body, response);
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
      AddHeader(header.name(), header.value.AsString(), response);
    }
  }
  for (const auto& [name, value] : rules.add) response.AddHeader(name, value);
  if (endpoint.cors != nullptr) {
    for (const auto& [name, value] : endpoint.cors->headers) response.AddHeader(name, value);
  }
  const Value& body = reply.body;
  if (reply.status >= 400 && content_type.empty() && !body.is_array() && !body.is_bytes()) {
    return AnswerError(request, reply.status, body.is_missing() ? Value("") : body, response);
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
  if (content_type.empty()) return AnswerValue(request, reply.status, body, response);
  const bool xml = MediaType(content_type).ends_with("xml");
  response.Body(reply.status, content_type, xml ? PrintXml(body) : json::ToText(body));
}

}  // namespace sluice::http::rest
