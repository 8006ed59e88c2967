#include "http/openapi.h"

#include <algorithm>

#include "base/check.h"
#include "http/error_body.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::http {
namespace {

using json::Value;

// OpenAPI has no {name...}: there a parameter is always written {name}.
std::string PathKey(std::string path) {
  const size_t dots = path.find("...}");
  if (dots != std::string::npos) path.erase(dots, 3);
  return path;
}

std::vector<std::string> PathParameters(const std::string& path) {
  std::vector<std::string> names;
  for (size_t open = path.find('{'); open != std::string::npos; open = path.find('{', open + 1)) {
    names.push_back(path.substr(open + 1, path.find('}', open) - open - 1));
  }
  return names;
}

std::string LowerMethod(Method method) {
  std::string name(MethodName(method));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  return name;
}

std::string_view InName(Parameter::In in) {
  switch (in) {
    case Parameter::In::kQuery:
      return "query";
    case Parameter::In::kHeader:
      return "header";
    case Parameter::In::kPath:
      return "path";
  }
  return "query";
}

Value ParameterValue(const Parameter& parameter) {
  Value value = Value::Object({{"name", parameter.name}, {"in", InName(parameter.in)}});
  if (!parameter.description.empty()) value.Set("description", parameter.description);
  value.Set("required", parameter.required || parameter.in == Parameter::In::kPath);
  value.Set("schema", Value::Object({{"type", parameter.type}}));
  return value;
}

Value Parameters(const Route& route, const std::string& path) {
  Value list = Value::EmptyArray();
  for (const std::string& name : PathParameters(path)) {
    const auto described = [&](const Parameter& parameter) {
      return parameter.in == Parameter::In::kPath && parameter.name == name;
    };
    if (std::none_of(route.parameters.begin(), route.parameters.end(), described)) {
      list.Append(ParameterValue({.name = name, .in = Parameter::In::kPath}));
    }
  }
  for (const Parameter& parameter : route.parameters) list.Append(ParameterValue(parameter));
  return list;
}

// Routes give a schema as a value or as its text.
Value SchemaOf(const Content& content) {
  if (content.schema.is_missing()) return Value::EmptyObject();
  if (!content.schema.is_string()) return content.schema;
  Result<Value> parsed = json::Parse(content.schema.AsString());
  CHECK(parsed);  // it is the program's own
  return std::move(*parsed);
}

Value ContentValue(const Content& content) {
  Value schema = SchemaOf(content);
  return Value::Object({{content.type, Value::Object({{"schema", std::move(schema)}})}});
}

Value Responses(const Route& route) {
  Value responses = Value::EmptyObject();
  for (const ResponseInfo& info : route.responses) {
    Value response = Value::Object({{"description", info.description}});
    if (info.content) response.Set("content", ContentValue(*info.content));
    responses.Set(std::to_string(info.status), std::move(response));
  }
  if (route.websocket) {
    responses.Set("101", Value::Object({{"description", "the connection is a WebSocket"}}));
  }
  responses.Set("default", Value::Object({{"$ref", "#/components/responses/Error"}}));
  return responses;
}

// "get_v1_docs_keyspace_key": the names that generated clients give their calls.
std::string OperationId(const Route& route, const std::string& path) {
  std::string id = LowerMethod(route.method);
  for (const char c : path) {
    const bool part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (part) {
      id += c;
    } else if (c == '/' || c == '_' || c == '-') {
      id += '_';
    }
  }
  return id;
}

// Who may call it: anybody, or whoever shows a password or a token.
Value Security(const Route& route) {
  Value list = Value::EmptyArray();
  if (route.auth.empty()) return list;
  for (const char* const scheme : {"basic", "token"}) {
    list.Append(Value::Object({{scheme, Value::EmptyArray()}}));
  }
  return list;
}

Value Operation(const Route& route, const std::string& path) {
  Value operation =
      Value::Object({{"operationId", OperationId(route, path)}, {"summary", route.summary}});
  if (!route.description.empty()) operation.Set("description", route.description);
  if (!route.tag.empty()) operation.Set("tags", Value::Array({route.tag}));
  if (!route.auth.empty()) operation.Set("x-permission", route.auth);
  operation.Set("security", Security(route));
  operation.Set("parameters", Parameters(route, path));
  if (route.request) {
    // One of which nothing is said may be left out.
    const bool required =
        !route.request->description.empty() || !route.request->schema.is_missing();
    Value body = Value::Object({{"required", required}, {"content", ContentValue(*route.request)}});
    if (!route.request->description.empty()) {
      body.Set("description", route.request->description);
    }
    operation.Set("requestBody", std::move(body));
  }
  operation.Set("responses", Responses(route));
  return operation;
}

Value Components() {
  const Value reference = Value::Object({{"$ref", "#/components/schemas/Error"}});
  const Value error = Value::Object(
      {{"description", "what went wrong"},
       {"content", Value::Object({{"application/json", Value::Object({{"schema", reference}})}})}});
  const auto scheme = [](const char* name) {
    return Value::Object({{"type", "http"}, {"scheme", name}});
  };
  return Value::Object({{"schemas", Value::Object({{"Error", ErrorSchema()}})},
                        {"responses", Value::Object({{"Error", error}})},
                        {"securitySchemes", Value::Object({{"basic", scheme("basic")},
                                                           {"token", scheme("bearer")}})}});
}

}  // namespace

Value OpenApi(const Router& router, const ApiInfo& info) {
  Value about = Value::Object({{"title", info.title}, {"version", info.version}});
  if (!info.description.empty()) about.Set("description", info.description);
  Value paths = Value::EmptyObject();
  for (const auto& route : router.routes()) {
    if (route->hidden) continue;
    const std::string path = PathKey(route->path);
    if (paths.Find(path) == nullptr) paths.Set(path, Value::EmptyObject());
    paths.MutableField(path)->Set(LowerMethod(route->method), Operation(*route, path));
  }
  return Value::Object({{"openapi", "3.0.3"},
                        {"info", std::move(about)},
                        {"paths", std::move(paths)},
                        {"components", Components()}});
}

Status AddOpenApi(const ApiInfo& info, Router* router) {
  std::string text = json::ToText(OpenApi(*router, info));
  return router->Add({.path = "/openapi.json",
                      .summary = "This description of the API",
                      .handler = [text = std::move(text)](
                                     Request&, Response& response) { response.Json(200, text); },
                      .hidden = true});
}

}  // namespace sluice::http
