#include "rest/flow_openapi.h"

#include <map>

#include "flow/text_form.h"

namespace sluice::rest {
namespace {

using flow_engine::Segment;
using json::Value;

Value Text() { return Value::Object({{"type", "string"}}); }

// The path of an endpoint, and its parameters by their names there. `*` is a parameter of its own.
struct DocumentedPath {
  std::string path;
  std::vector<std::string> parameters;
};

DocumentedPath PathOf(const flow_engine::Endpoint& endpoint) {
  DocumentedPath made;
  int wildcards = 0;
  for (const Segment& segment : endpoint.segments) {
    made.path += '/';
    if (segment.kind == Segment::Kind::kText || segment.kind == Segment::Kind::kPrefix) {
      made.path += segment.text;
    }
    if (segment.kind == Segment::Kind::kText) continue;
    made.parameters.push_back(segment.kind == Segment::Kind::kParameter
                                  ? segment.text
                                  : fmt::format("wildcard{}", ++wildcards));
    made.path += "{" + made.parameters.back() + "}";
  }
  if (made.path.empty()) made.path = "/";
  return made;
}

// What two paths have in common that differ only in how their parameters are called: a document has
// one of them.
std::string ShapeOf(const DocumentedPath& made) {
  std::string shape = made.path;
  for (const std::string& name : made.parameters)
    shape.erase(shape.find("{" + name) + 1, name.size());
  return shape;
}

Value EndpointParametersOf(const DocumentedPath& path, const flow_engine::Endpoint& endpoint) {
  Value parameters = Value::EmptyArray();
  const auto add = [&](const std::string& name, const char* in, bool required) {
    parameters.Append(
        Value::Object({{"name", name}, {"in", in}, {"required", required}, {"schema", Text()}}));
  };
  for (const std::string& name : path.parameters) add(name, "path", true);
  for (const std::string& name : endpoint.query) add(name, "query", false);
  return parameters;
}

Value JsonContent(Value schema) {
  return Value::Object({{"application/json", Value::Object({{"schema", std::move(schema)}})}});
}

Value RequestBody(const flow_engine::Endpoint& endpoint) {
  if (!endpoint.upload) return Value::Object({{"content", JsonContent(Value::EmptyObject())}});
  const Value file = Value::Object({{"type", "string"}, {"format", "binary"}});
  const Value schema =
      Value::Object({{"type", "object"}, {"properties", Value::Object({{"file", file}})}});
  return Value::Object(
      {{"content", Value::Object({{"multipart/form-data", Value::Object({{"schema", schema}})}})}});
}

std::string SummaryOf(const flow_engine::App& app, const flow_engine::Endpoint& endpoint) {
  if (!endpoint.relay.empty()) return "Relayed to " + endpoint.relay;
  const flow::Flow* const flow = app.flows->Find(endpoint.flow);
  return flow == nullptr ? endpoint.services[0] : flow->description;
}

Value EndpointOperationOf(const flow_engine::App& app, const flow_engine::Endpoint& endpoint,
                          const std::string& method, Value parameters) {
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

Value FlowOpenApi(const flow_engine::App& app) {
  Value paths = Value::EmptyObject();
  std::map<std::string, DocumentedPath> shapes;
  for (const flow_engine::Endpoint& endpoint : app.rest.endpoints) {
    DocumentedPath made = PathOf(endpoint);
    const std::string shape = ShapeOf(made);
    const DocumentedPath& path = shapes.try_emplace(shape, std::move(made)).first->second;
    const Value parameters = EndpointParametersOf(path, endpoint);
    Value item = paths[path.path].is_object() ? paths[path.path] : Value::EmptyObject();
    for (const std::string& method : endpoint.methods) {
      item.Set(flow::LowerCase(method), EndpointOperationOf(app, endpoint, method, parameters));
    }
    paths.Set(path.path, std::move(item));
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

}  // namespace sluice::rest
