#include "http/openapi.h"

#include <algorithm>

#include "base/check.h"
#include "http/error_body.h"
#include "http/library.h"
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

// library/schemas.json: {"schemas": {name: schema}, "operations": {"get /path": {"request": what,
// "responses": {status: what}}}}, where `what` is the name of a schema, a type of content for one
// that is not JSON, a list of these, or {"description": ..., "content": what} for a status that the
// route does not name. A request that ends with '?' may be left out.
Value Described() {
  Result<Value> parsed = json::Parse(kSchemasJson);
  CHECK(parsed);  // it is the program's own
  return std::move(*parsed);
}

// The contents of one `what`, by type.
Value ContentsOf(const Value& what) {
  Value contents = Value::EmptyObject();
  if (what.is_array()) {
    for (const Value& item : what.items()) {
      const Value some = ContentsOf(item);
      for (const json::Field& field : some.fields()) contents.Set(field.name(), field.value);
    }
    return contents;
  }
  std::string name(what.AsString());
  if (name.ends_with('?')) name.pop_back();
  if (name.find('/') != std::string::npos) {
    contents.Set(name, Value::Object({{"schema", Value::Object({{"type", "string"}})}}));
    return contents;
  }
  const Value schema = Value::Object({{"$ref", "#/components/schemas/" + name}});
  contents.Set("application/json", Value::Object({{"schema", schema}}));
  return contents;
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

Value Responses(const Route& route, const Value& described) {
  Value responses = Value::EmptyObject();
  for (const ResponseInfo& info : route.responses) {
    Value response = Value::Object({{"description", info.description}});
    const Value& what = described[std::to_string(info.status)];
    if (!what.is_missing()) {
      response.Set("content", ContentsOf(what));
    } else if (info.content) {
      response.Set("content", ContentValue(*info.content));
    }
    responses.Set(std::to_string(info.status), std::move(response));
  }
  for (const json::Field& field : described.fields()) {
    if (!field.value.is_object()) continue;
    responses.Set(field.name(), Value::Object({{"description", field.value["description"]},
                                               {"content", ContentsOf(field.value["content"])}}));
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

// The security of a route: none, or a password or a token.
Value Security(const Route& route) {
  Value list = Value::EmptyArray();
  if (route.auth.empty()) return list;
  for (const char* const scheme : {"basic", "token"}) {
    list.Append(Value::Object({{scheme, Value::EmptyArray()}}));
  }
  return list;
}

// The body that the route takes; missing for none.
Value RequestBody(const Route& route, const Value& described) {
  if (!route.request) return {};
  // A body without a description is optional.
  bool required = !route.request->description.empty() || !route.request->schema.is_missing();
  if (described.is_string()) required = !described.AsString().ends_with('?');
  Value body = Value::Object(
      {{"required", required},
       {"content", described.is_missing() ? ContentValue(*route.request) : ContentsOf(described)}});
  if (!route.request->description.empty()) body.Set("description", route.request->description);
  return body;
}

Value Operation(const Route& route, const std::string& path, const Value& described) {
  Value operation =
      Value::Object({{"operationId", OperationId(route, path)}, {"summary", route.summary}});
  if (!route.description.empty()) operation.Set("description", route.description);
  if (!route.tag.empty()) operation.Set("tags", Value::Array({route.tag}));
  if (!route.auth.empty()) operation.Set("x-permission", route.auth);
  operation.Set("security", Security(route));
  operation.Set("parameters", Parameters(route, path));
  Value body = RequestBody(route, described["request"]);
  if (!body.is_missing()) operation.Set("requestBody", std::move(body));
  operation.Set("responses", Responses(route, described["responses"]));
  return operation;
}

Value Components(Value schemas) {
  const Value reference = Value::Object({{"$ref", "#/components/schemas/Error"}});
  const Value error = Value::Object(
      {{"description", "what went wrong"},
       {"content", Value::Object({{"application/json", Value::Object({{"schema", reference}})}})}});
  const auto scheme = [](const char* name) {
    return Value::Object({{"type", "http"}, {"scheme", name}});
  };
  schemas.Set("Error", ErrorSchema());
  return Value::Object({{"schemas", std::move(schemas)},
                        {"responses", Value::Object({{"Error", error}})},
                        {"securitySchemes", Value::Object({{"basic", scheme("basic")},
                                                           {"token", scheme("bearer")}})}});
}

}  // namespace

Value OpenApi(const Router& router, const ApiInfo& info) {
  Value about = Value::Object({{"title", info.title}, {"version", info.version}});
  if (!info.description.empty()) about.Set("description", info.description);
  const Value described = Described();
  Value paths = Value::EmptyObject();
  for (const auto& route : router.routes()) {
    if (route->hidden) continue;
    const std::string path = PathKey(route->path);
    if (paths.Find(path) == nullptr) paths.Set(path, Value::EmptyObject());
    const std::string method = LowerMethod(route->method);
    const Value& operation = described["operations"][method + " " + path];
    paths.MutableField(path)->Set(method, Operation(*route, path, operation));
  }
  return Value::Object({{"openapi", "3.0.3"},
                        {"info", std::move(about)},
                        {"paths", std::move(paths)},
                        {"components", Components(described["schemas"])}});
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
