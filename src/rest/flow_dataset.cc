#include "rest/flow_dataset.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "flow/text_form.h"
#include "flow_engine/path_parts.h"
#include "json/parse.h"
#include "json/print.h"
#include "rest/flow_upload.h"
#include "rest/http_types.h"
#include "rest/xml.h"

namespace sluice::rest {
namespace {

using flow::LowerCase;
using json::Value;

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kPlain = "text/plain; charset=utf-8";

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool Passes(const flow_engine::HeaderRules& rules, const std::string& name) {
  if (!rules.keep.empty()) return Contains(rules.keep, name);
  return !Contains(rules.drop, name);
}

// Headers are UTF-8 or, as in former times, Latin-1.
Value HeaderText(std::string_view bytes) {
  if (IsValidUtf8(bytes)) return Value(bytes);
  std::string text;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) text += static_cast<char>(0xC0 | code >> 6);
    text += static_cast<char>(code >= 0x80 ? 0x80 | (code & 0x3F) : code);
  }
  return Value(text);
}

const flow_engine::HeaderRules& RequestRules(const flow_engine::Endpoint& endpoint) {
  static const flow_engine::HeaderRules kNone;
  return endpoint.headers == nullptr ? kNone : endpoint.headers->request;
}

// Functions are told these by the server (flow_engine/task.h).
bool IsOrigin(std::string_view lower_name) {
  return lower_name == "my_route" || lower_name == "my_trace_id" || lower_name == "my_trace_path" ||
         lower_name == "my_correlation_id";
}

Value HeadersOf(const Request& request, const flow_engine::Endpoint& endpoint) {
  Value headers = Value::EmptyObject();
  const flow_engine::HeaderRules& rules = RequestRules(endpoint);
  for (const Header& header : request.headers()) {
    const std::string name = LowerCase(header.name);
    if (name == "cookie" || (endpoint.relay.empty() && IsOrigin(name)) || !Passes(rules, name))
      continue;
    const bool again = headers.Find(name) != nullptr;
    headers.Set(name, HeaderText(again ? JoinedHeader(request, name) : header.value));
  }
  for (const auto& [name, value] : rules.add) headers.Set(LowerCase(name), Value(value));
  if (!endpoint.flow.empty()) headers.Set("x-flow-id", Value(endpoint.flow));
  return headers;
}

Value CookiesOf(const Request& request, const flow_engine::Endpoint& endpoint) {
  Value cookies = Value::EmptyObject();
  if (!Passes(RequestRules(endpoint), "cookie")) return cookies;
  const std::string all = JoinedHeader(request, "cookie", "; ");
  std::string_view rest = all;
  while (!rest.empty()) {
    const size_t end = rest.find(';');
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    const Value name = HeaderText(one.substr(0, equals));
    cookies.Set(name.AsString(), HeaderText(one.substr(equals + 1)));
  }
  return cookies;
}

std::string_view MediaType(std::string_view content_type) {
  return content_type.substr(0, content_type.find_first_of("; "));
}

bool IsText(std::string_view type) { return type.starts_with("text/"); }

Status AddJson(const Request& request, Value* dataset) {
  auto body = json::Parse(request.body());
  if (!body) {
    return Error(Code::kInvalidArgument, "flow.bad_body", "the body is not JSON: {}",
                 body.error().message());
  }
  dataset->Set("body", std::move(*body));
  return OkStatus();
}

// What curl sends with -d and no content type: no form is an object or a list of JSON.
bool IsJsonByMistake(std::string_view body) {
  const size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || (body[begin] != '{' && body[begin] != '[')) return false;
  return json::Parse(body).has_value();
}

Status AddForm(const Request& request, Value* query) {
  if (IsJsonByMistake(request.body())) {
    return Error(Code::kInvalidArgument, "flow.bad_body",
                 "the body is JSON, but its content type is application/x-www-form-urlencoded: "
                 "send it with Content-Type: application/json");
  }
  const auto pairs = http::ParseQuery(request.body());
  if (!pairs) {
    return Error(Code::kInvalidArgument, "flow.bad_body", "the body has a malformed escape");
  }
  for (const auto& [name, value] : *pairs) RETURN_IF_ERROR(AddQueryPair(name, value, query));
  return OkStatus();
}

// What a content type means, in lower case.
enum class Media : uint8_t { kJson, kXml, kForm, kMultipart, kText, kOther };
Media MediaOf(const Request& request) {
  const std::string type = LowerCase(MediaType(request.FindHeader("content-type").value_or("")));
  if (type == "application/json" || type.ends_with("+json")) return Media::kJson;
  if (type == "application/xml" || type == "text/xml" || type.ends_with("+xml")) return Media::kXml;
  if (type == "application/x-www-form-urlencoded") return Media::kForm;
  if (type == "multipart/form-data") return Media::kMultipart;
  return IsText(type) ? Media::kText : Media::kOther;
}

Status AddXml(const Request& request, Value* dataset) {
  if (request.FindHeader("x-raw-xml").value_or("") == "true") {
    dataset->Set("body", TextOrBytes(request.body()));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(Value body, ParseXml(request.body()));
  dataset->Set("body", std::move(body));
  return OkStatus();
}

Status AddBody(const Request& request, const flow_engine::Endpoint& endpoint,
               flow_engine::StreamScope* streams, Value* dataset, Value* query) {
  if (request.body_size() == 0) return OkStatus();
  const Media media = endpoint.relay.empty() ? MediaOf(request) : Media::kOther;
  if (media == Media::kMultipart && endpoint.upload) {
    return AddUpload(request, streams, dataset, query);
  }
  if (request.spooled() != nullptr) return AddSpooled(request, streams, dataset);
  switch (media) {
    case Media::kJson:
      return AddJson(request, dataset);
    case Media::kForm:
      return AddForm(request, query);
    case Media::kXml:
      return AddXml(request, dataset);
    case Media::kText:
      dataset->Set("body", TextOrBytes(request.body()));
      return OkStatus();
    case Media::kMultipart:
    case Media::kOther:
      dataset->Set("body", Value::Bytes(request.body()));
      return OkStatus();
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
          status, kHtml,
          "<html><body><pre>\n" + EscapeMarkup(json::ToText(value)) + "\n</pre></body></html>");
    case Form::kXml:
      return response.Body(status, "application/xml", PrintXml(value));
  }
}

// Whether rest.yaml gives the answers of an endpoint this header.
bool HasPolicy(const flow_engine::Endpoint& endpoint, std::string_view lower_name) {
  const auto is = [&](const auto& header) { return EqualsIgnoreCase(header.first, lower_name); };
  return (endpoint.headers != nullptr && std::ranges::any_of(endpoint.headers->response.add, is)) ||
         (endpoint.cors != nullptr && std::ranges::any_of(endpoint.cors->headers, is));
}

// What of an answer's head is the server's to say.
bool IsOurs(std::string_view lower_name) {
  constexpr std::string_view kOurs[] = {
      "content-length", "transfer-encoding", "connection", "keep-alive",  "proxy-connection", "te",
      "trailer",        "upgrade",           "date",       "x-request-id"};
  return std::ranges::find(kOurs, lower_name) != std::end(kOurs);
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
Result<std::string> RewrittenPath(const Request& request, const flow_engine::Endpoint& endpoint) {
  const std::string path(request.path());
  for (const std::string_view part : flow_engine::SplitPath(path)) {
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

std::string JoinedHeader(const Request& request, std::string_view lower_name,
                         std::string_view separator) {
  std::string joined;
  bool first = true;
  for (const Header& header : request.headers()) {
    if (!EqualsIgnoreCase(header.name, lower_name)) continue;
    if (!std::exchange(first, false)) joined += separator;
    joined += header.value;
  }
  return joined;
}

BodyForm FormOfBody(const Request& request) {
  const Media media = MediaOf(request);
  const bool bytes = media == Media::kMultipart || media == Media::kOther;
  return bytes ? BodyForm::kBytes : BodyForm::kParsed;
}

Result<Value> HeadOf(const Request& request, const flow_engine::Endpoint& endpoint,
                     const std::vector<std::pair<std::string, std::string>>& parameters) {
  Value dataset = Value::Object({{"method", MethodName(request.method())}});
  if (endpoint.relay.empty()) {
    dataset.Set("uri", HeaderText(request.path()));
  } else {
    ASSIGN_OR_RETURN(const std::string uri, RewrittenPath(request, endpoint));
    dataset.Set("uri", HeaderText(uri));
    dataset.Set("query_string", HeaderText(request.target().substr(request.path().size())));
  }
  dataset.Set("header", HeadersOf(request, endpoint));
  dataset.Set("cookie", CookiesOf(request, endpoint));
  Value path = Value::EmptyObject();
  for (const auto& [name, value] : parameters) {
    if (!IsValidUtf8(value)) {
      return Fail(Code::kInvalidArgument, "flow.bad_path", "the path is not UTF-8");
    }
    path.Set(name, Value(value));
  }
  dataset.Set("path_parameter", std::move(path));
  Value query = Value::EmptyObject();
  for (const auto& [name, value] : request.query()) {
    RETURN_IF_ERROR(AddQueryPair(name, value, &query));
  }
  dataset.Set("query", std::move(query));
  dataset.Set("ip", AddressOf(request));
  return dataset;
}

Result<Value> WithBody(const Request& request, const flow_engine::Endpoint& endpoint, Value head,
                       flow_engine::StreamScope* streams) {
  Value query = head["query"];
  RETURN_IF_ERROR(AddBody(request, endpoint, streams, &head, &query));
  head.Set("query", std::move(query));
  return head;
}

void AnswerError(const Request& request, int status, const Value& message, Response& response) {
  const Value body =
      message.is_object() && message["type"] == Value("error")
          ? message
          : Value::Object({{"type", "error"}, {"status", status}, {"message", message}});
  AnswerValue(request, status, body, response);
}

void AddPolicyHeaders(const flow_engine::Endpoint& endpoint, Response& response) {
  if (endpoint.headers != nullptr) {
    for (const auto& [name, value] : endpoint.headers->response.add) {
      response.AddHeader(name, value);
    }
  }
  if (endpoint.cors == nullptr) return;
  for (const auto& [name, value] : endpoint.cors->headers) response.AddHeader(name, value);
}

std::string SetAnswerHead(const flow_engine::Endpoint& endpoint, const flow_engine::Reply& reply,
                          Response& response) {
  std::string content_type;
  const flow_engine::HeaderRules none;
  const flow_engine::HeaderRules& rules =
      endpoint.headers == nullptr ? none : endpoint.headers->response;
  for (const json::Field& header : reply.headers.fields()) {
    const std::string name = LowerCase(header.name());
    if (!Passes(rules, name) || IsOurs(name)) continue;
    for (const Value& item : header.value.items()) {
      if (item.is_string()) response.AddHeader(header.name(), item.AsString());
    }
    if (!header.value.is_string()) continue;
    if (name == flow_engine::kStreamHeader || HasPolicy(endpoint, name)) continue;
    // The answer has that of our own trace; the one of a relay's target would be a second.
    if (name == LowerCase(endpoint.trace_header) && endpoint.tracing == flow_engine::Tracing::kTold)
      continue;
    if (name == "content-type") {
      content_type = header.value.AsString();
    } else {
      AddHeader(header.name(), header.value.AsString(), response);
    }
  }
  return content_type;
}

void Answer(const Request& request, const flow_engine::Endpoint& endpoint, flow_engine::Reply reply,
            Response& response) {
  std::string content_type = SetAnswerHead(endpoint, reply, response);
  const Value& body = reply.body;
  // What the target of a relay would have sent is not known.
  if (request.method() == Method::kHead && !endpoint.relay.empty()) {
    response.set_head_length(std::nullopt);
  }
  const bool is_message = !body.is_array() && !body.is_object() && !body.is_bytes();
  if (reply.status >= 400 && content_type.empty() && is_message) {
    return AnswerError(request, reply.status, body.is_missing() ? Value("") : body, response);
  }
  if (body.is_missing() || body.is_null()) {
    return response.Body(reply.status, content_type, "");
  }
  if (body.is_bytes()) {
    if (content_type.empty() && !body.AsBytes().empty()) content_type = "application/octet-stream";
    return response.Body(reply.status, content_type, std::string(body.AsBytes()));
  }
  if (body.is_string()) {
    if (content_type.empty()) content_type = Accepts(request, "text/html") ? kHtml : kPlain;
    return response.Body(reply.status, content_type, std::string(body.AsString()));
  }
  if (content_type.empty()) return AnswerValue(request, reply.status, body, response);
  const bool xml = MediaType(content_type).ends_with("xml");
  response.Body(reply.status, content_type, xml ? PrintXml(body) : json::ToText(body));
}

}  // namespace sluice::rest
