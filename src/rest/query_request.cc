#include "rest/query_request.h"

#include "json/parse.h"
#include "query/error.h"

namespace sluice::rest {
namespace {

using json::Value;
using service::ParameterForm;
using service::QueryParameters;

bool IsJsonRequest(const Request& request) {
  const std::string_view type = request.FindHeader("Content-Type").value_or("");
  if (type.find("json") != std::string_view::npos) return true;
  const size_t first = request.body().find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && request.body()[first] == '{';
}

Status ReadPairs(const http::QueryPairs& pairs, QueryParameters* parameters) {
  for (const auto& [name, value] : pairs) {
    RETURN_IF_ERROR(
        service::ReadQueryParameter(name, Value(value), ParameterForm::kForm, parameters));
  }
  return OkStatus();
}

Status ReadBody(const Request& request, QueryParameters* parameters) {
  const std::string_view body = request.body();
  if (body.empty()) return OkStatus();
  if (!IsJsonRequest(request)) {
    const std::optional<http::QueryPairs> pairs = http::ParseQuery(body);
    if (!pairs) {
      return query::QueryError(query::QueryCode::kBadParameter,
                               "the form has a malformed percent escape");
    }
    return ReadPairs(*pairs, parameters);
  }
  const Result<Value> object = json::Parse(body, {.max_bytes = body.size()});
  if (!object || !object->is_object()) {
    return query::QueryError(query::QueryCode::kBadParameter, "the body is no JSON object{}",
                             object ? "" : ": " + object.error().message());
  }
  for (const json::Field& field : object->fields()) {
    RETURN_IF_ERROR(
        service::ReadQueryParameter(field.name(), field.value, ParameterForm::kJson, parameters));
  }
  return OkStatus();
}

}  // namespace

Status ReadQueryParameters(const Request& request, QueryParameters* parameters) {
  RETURN_IF_ERROR(ReadPairs(request.query(), parameters));
  RETURN_IF_ERROR(ReadBody(request, parameters));
  if (request.method() != Method::kPost) parameters->read_only = true;
  return service::CheckStatement(*parameters);
}

}  // namespace sluice::rest
