#include "rest/flow_admin.h"

#include "flow/graph.h"
#include "json/parse.h"
#include "json/print.h"
#include "rest/access.h"
#include "rest/flow_runs.h"
#include "rest/flow_traces.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

using json::Value;

Value ProblemsOf(const flow::Problems& problems, OpenEndpoints open) {
  Value list = Value::EmptyArray();
  for (const flow::Problem& problem : problems.Sorted()) {
    const bool is_open = problem.status.id() == "rest.open_endpoint";
    if (is_open && open == OpenEndpoints::kMeant) continue;
    const Place& place = problem.status.place();
    const bool error = problem.severity == flow::Problem::Severity::kError;
    list.Append(Value::Object({{"severity", error ? "error" : "warning"},
                               {"id", problem.status.id()},
                               {"message", problem.status.message()},
                               {"file", place.file},
                               {"line", Value::Unsigned(place.line)},
                               {"column", Value::Unsigned(place.column)}}));
  }
  return list;
}

void PutApp(flow_engine::Host& host, OpenEndpoints open, Request& request, Response& response) {
  const auto value = json::Parse(request.body(), {.max_bytes = 2 * flow_engine::kMaxBundleBytes});
  if (!value) return response.Error(value.error());
  auto bundle = flow_engine::BundleFromJson(*value);
  if (!bundle) return response.Error(bundle.error());
  flow::Problems problems;
  const auto check = request.QueryBool("check", false);
  if (!check) return response.Error(check.error());
  if (*check) {
    host.Check(std::move(*bundle), &problems);
  } else if (const Status status = host.Apply(std::move(*bundle), &problems); !status.ok()) {
    return response.Error(status);
  }
  response.Json(problems.has_errors() ? 400 : 200,
                json::ToText(Value::Object({{"problems", ProblemsOf(problems, open)}})));
}

void ListFlows(const flow_engine::Host& host, Response& response) {
  const auto app = host.app();
  Value flows = Value::EmptyArray();
  for (const auto& [id, flow] : app->flows->flows()) {
    flows.Append(Value::Object({{"id", id},
                                {"description", flow->description},
                                {"durable", flow->durable},
                                {"tasks", Value::Unsigned(flow->tasks.size())},
                                {"ttl_ms", Value::Unsigned(flow->ttl_ms)}}));
  }
  Value routes = Value::EmptyArray();
  for (const auto& [name, route] : app->routes) {
    const flow_engine::Route::Stats stats = route->stats();
    routes.Append(Value::Object({{"route", name},
                                 {"instances", route->instances()},
                                 {"busy", stats.busy},
                                 {"waiting", Value::Unsigned(stats.waiting)},
                                 {"calls", Value::Unsigned(stats.calls)},
                                 {"failures", Value::Unsigned(stats.failures)}}));
  }
  Value endpoints = Value::EmptyArray();
  for (const flow_engine::Endpoint& endpoint : app->rest.endpoints) {
    Value methods = Value::EmptyArray();
    for (const std::string& method : endpoint.methods) methods.Append(Value(method));
    endpoints.Append(Value::Object({{"url", endpoint.url},
                                    {"methods", std::move(methods)},
                                    {"service", endpoint.services[0]},
                                    {"flow", endpoint.flow}}));
  }
  Value autostart = Value::EmptyArray();
  for (const flow_engine::Autostart& each : app->options.autostart)
    autostart.Append(Value(each.target));
  Value listeners = Value::EmptyArray();
  for (const std::string& each : app->options.listeners) listeners.Append(Value(each));
  response.Json(200, json::ToText(Value::Object({{"flows", std::move(flows)},
                                                 {"routes", std::move(routes)},
                                                 {"endpoints", std::move(endpoints)},
                                                 {"autostart", std::move(autostart)},
                                                 {"listeners", std::move(listeners)}})));
}

Result<const flow::Flow*> FlowOf(const flow_engine::App& app, const Request& request) {
  const std::string_view id = request.Param("id");
  const flow::Flow* const found = app.flows->Find(id);
  if (found != nullptr) return found;
  return Fail(Code::kNotFound, "flow.not_found", "there is no flow '{}'", id);
}

void DrawFlow(const flow_engine::Host& host, const Request& request, Response& response) {
  const auto app = host.app();
  const auto flow = FlowOf(*app, request);
  if (!flow) return response.Error(flow.error());
  const std::string_view format = request.Query("format").value_or("mermaid");
  if (format == "mermaid") return response.Text(200, flow::MermaidOf(**flow));
  if (format == "svg") return response.Body(200, "image/svg+xml", flow::SvgOf(**flow));
  response.Error(Error(Code::kInvalidArgument, "http.bad_parameter",
                       "format: expected mermaid or svg, got '{}'", format));
}

// The body is the dataset; none is an empty one.
Result<Value> FlowInputOf(const Request& request) {
  if (request.body().empty()) return Value::EmptyObject();
  ASSIGN_OR_RETURN(Value input, json::Parse(request.body()));
  if (input.is_object()) return input;
  return Fail(Code::kInvalidArgument, "flow.bad_input",
              "expected an object such as {{\"body\": ..., \"header\": ...}}");
}

// Stores the beginning of a run, which then goes on by itself. Its id. Waits.
Result<std::string> LaunchFlow(flow_engine::Host& host, std::shared_ptr<const flow_engine::App> app,
                               const flow::Flow& flow, flow::Start start) {
  if (!flow.durable) {
    return Fail(Code::kInvalidArgument, "flow.not_durable",
                "flow '{}' is not durable: its answer has to be waited for", flow.id);
  }
  std::vector<flow_engine::Engine::Launch> launches;
  launches.push_back({std::move(app), std::move(start), "command"});
  ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                   host.engine().LaunchAll(std::move(launches), {}));
  return ids.front();
}

Task<> RunFlow(flow_engine::Host& host, Request& request, Response& response) {
  const auto app = host.app();
  const auto flow = FlowOf(*app, request);
  auto input = FlowInputOf(request);
  if (!flow || !input) {
    response.Error(flow ? input.error() : flow.error());
    co_return;
  }
  flow::Start start;
  start.flow = (*flow)->id;
  start.input = std::move(*input);
  start.cid = request.FindHeader("x-correlation-id").value_or(request.id());
  const auto waits = request.QueryBool("wait", true);
  if (!waits) {
    response.Error(waits.error());
    co_return;
  }
  if (!*waits) {
    const Result<Result<std::string>> run = co_await RunBlocking(
        request.exchange(), [&] { return LaunchFlow(host, app, **flow, std::move(start)); });
    if (!run || !*run) {
      response.Error(run ? run->error() : run.error());
      co_return;
    }
    response.Json(202, json::ToText(Value::Object({{"run", **run}})));
    co_return;
  }
  Completion<flow_engine::Reply> done(request.exchange());
  host.engine().Start(
      app, std::move(start), [done](flow_engine::Reply reply) { done.Complete(std::move(reply)); },
      "command");
  Result<flow_engine::Reply> reply = co_await done;
  if (!reply) co_return;  // the client has gone; the flow goes on
  Value answer = Value::Object({{"status", reply->status}, {"headers", std::move(reply->headers)}});
  if (!reply->run.empty()) answer.Set("run", Value(reply->run));
  answer.Set("body", reply->body.is_missing() ? Value(nullptr) : std::move(reply->body));
  response.Json(200, json::ToText(answer));
}

// What is asked of one flow.
Status AddFlowRoutes(Router& router, flow_engine::Host& host) {
  const Parameter id{.name = "id", .in = Parameter::In::kPath, .description = "the flow's id"};
  RETURN_IF_ERROR(
      router.Add({.method = Method::kGet,
                  .path = "/v1/flows/{id}/graph",
                  .summary = "A flow, drawn",
                  .tag = "flows",
                  .parameters = {id, {.name = "format", .description = "mermaid or svg"}},
                  .responses = {{.status = 200, .description = "Text for Mermaid, or a picture"},
                                {.status = 404, .description = "There is no such flow"}},
                  .auth = std::string(kAdmin),
                  .handler = [&host](Request& request, Response& response) {
                    DrawFlow(host, request, response);
                  }}));
  return router.Add(
      {.method = Method::kPost,
       .path = "/v1/flows/{id}/run",
       .summary = "Run a flow and wait for its response",
       .tag = "flows",
       .description =
           "With wait=false the server only starts a durable flow; the answer has its run's id.",
       .parameters = {id,
                      {.name = "wait",
                       .description = "false: answer when the run is stored",
                       .type = "boolean"}},
       .request = Content{.description = "The dataset: input.body, input.header and so on"},
       .responses = {{.status = 200, .description = "The flow's status, headers and body"},
                     {.status = 404, .description = "There is no such flow"}},
       .auth = std::string(kAdmin),
       .handler = [&host](Request& request, Response& response) {
         return RunFlow(host, request, response);
       }});
}

}  // namespace

Status AddFlowAdminRoutes(Router& router, flow_engine::Host& host, OpenEndpoints open) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPut,
       .path = "/v1/flows/app",
       .summary = "Replace the app: its flows, tasks and REST endpoints",
       .tag = "flows",
       .description =
           "All files at once; when one has an error nothing changes, and the answer has "
           "every problem. With check=true nothing changes in any case.",
       .parameters =
           {{.name = "check", .description = "only report the problems", .type = "boolean"}},
       .request = Content{.description = "{\"files\": {path: text or {\"base64\": ...}}}"},
       .responses = {{.status = 200, .description = "The warnings"},
                     {.status = 400, .description = "The problems"}},
       .auth = std::string(kAdmin),
       .handler = Blocking([&host, open](Request& request, Response& response) {
         PutApp(host, open, request, response);
       })}));
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/v1/flows/app",
                              .summary = "The files of the app",
                              .tag = "flows",
                              .responses = {{.status = 200, .description = "As PUT takes them"}},
                              .auth = std::string(kAdmin),
                              .handler = [&host](Request&, Response& response) {
                                response.Json(
                                    200, json::ToText(flow_engine::ToJson(host.app()->bundle)));
                              }}));
  RETURN_IF_ERROR(AddFlowRoutes(router, host));
  RETURN_IF_ERROR(AddFlowRunRoutes(router, host));
  RETURN_IF_ERROR(AddFlowTraceRoutes(router, host));
  return router.Add(
      {.method = Method::kGet,
       .path = "/v1/flows",
       .summary = "Flows, routes and REST endpoints of the app",
       .tag = "flows",
       .responses = {{.status = 200, .description = "the flows, routes and endpoints"}},
       .auth = std::string(kAdmin),
       .handler = [&host](Request&, Response& response) { ListFlows(host, response); }});
}

}  // namespace sluice::rest
