#include "http/rest/flow_openapi.h"

#include "flow/text_form.h"

namespace sluice::http::rest {
namespace {

using json::Value;
using route::Segment;

Value Text() { return Value::Object({{"type", "string"}}); }

// `*` is a parameter of its own.
std::string PathOf(const route::Endpoint& endpoint, Value* parameters) {
  std::string path;
  int wildcards = 0;
  for (const Segment& segment : endpoint.segments) {
    std::string parameter;
    path += '/';
    switch (segment.kind) {
      case Segment::Kind::kText:
        path += segment.text;
        continue;
      case Segment::Kind::kParameter:
        parameter = segment.text;
        break;
      case Segment::Kind::kPrefix:
      case Segment::Kind::kRest:
        parameter = fmt::format("wildcard{}", ++wildcards);
        path += segment.text;
        break;
    }
    path += "{" + parameter + "}";
    parameters->Append(Value::Object(
        {{"name", parameter}, {"in", "path"}, {"required", true}, {"schema", Text()}}));
  }
  return path.empty() ? "/" : path;
}

Value JsonContent(Value schema) {
  return Value::Object({{"application/json", Value::Object({{"schema", std::move(schema)}})}});
}

Value RequestBody(const route::Endpoint& endpoint) {
  if (!endpoint.upload) return Value::Object({{"content", JsonContent(Value::EmptyObject())}});
  const Value file = Value::Object({{"type", "string"}, {"format", "binary"}});
  const Value schema =
      Value::Object({{"type", "object"}, {"properties", Value::Object({{"file", file}})}});
  return Value::Object(
      {{"content", Value::Object({{"multipart/form-data", Value::Object({{"schema", schema}})}})}});
}

std::string SummaryOf(const route::App& app, const route::Endpoint& endpoint) {
  if (!endpoint.relay.empty()) return "Relayed to " + endpoint.relay;
  const flow::Flow* const flow = app.flows->Find(endpoint.flow);
  return flow == nullptr ? endpoint.services[0] : flow->description;
}

Value OperationOf(const route::App& app, const route::Endpoint& endpoint, const std::string& method,
                  Value parameters) {
  const Value error = Value::Object({{"$ref", "#/components/schemas/Error"}});
  Value responses = Value::Object(
      {{"200", Value::Object({{"description", "What it answers"}})},
       {"default", Value::Object({{"description", "An error"}, {"content", JsonContent(error)}})}});
  if (!endpoint.authentication.empty()) {
    responses.Set(
        "401", Value::Object({{"description", "Unauthorized"}, {"content", JsonContent(error)}}));
  }
  Value operation = Value::Object({{"summary", SummaryOf(app, endpoint)}});
  if (parameters.size() > 0) operation.Set("parameters", std::move(parameters));
  if (method == "POST" || method == "PUT" || method == "PATCH") {
    operation.Set("requestBody", RequestBody(endpoint));
  }
  operation.Set("responses", std::move(responses));
  return operation;
}

}  // namespace

Value FlowOpenApi(const route::App& app) {
  Value paths = Value::EmptyObject();
  for (const route::Endpoint& endpoint : app.rest.endpoints) {
    Value parameters = Value::EmptyArray();
    const std::string path = PathOf(endpoint, &parameters);
    Value item = paths[path].is_object() ? paths[path] : Value::EmptyObject();
    for (const std::string& method : endpoint.methods) {
      item.Set(flow::LowerCase(method), OperationOf(app, endpoint, method, parameters));
    }
    paths.Set(path, std::move(item));
  }
  const Value error =
      Value::Object({{"type", "object"},
                     {"properties", Value::Object({{"type", Text()},
                                                   {"status", Value::Object({{"type", "integer"}})},
                                                   {"message", Value::EmptyObject()}})}});
  return Value::Object(
      {{"openapi", "3.0.3"},
       {"info", Value::Object({{"title", "REST endpoints of the app"}, {"version", "1"}})},
       {"paths", std::move(paths)},
       {"components", Value::Object({{"schemas", Value::Object({{"Error", error}})}})}});
}

}  // namespace sluice::http::rest
