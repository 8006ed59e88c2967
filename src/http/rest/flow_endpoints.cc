#include "http/rest/flow_endpoints.h"

#include "http/completion.h"
#include "http/rest/access.h"
#include "http/rest/flow_dataset.h"
#include "http/url.h"

namespace sluice::http::rest {
namespace {

using json::Value;

constexpr Method kMethods[] = {Method::kGet,   Method::kPost,   Method::kPut,
                               Method::kPatch, Method::kDelete, Method::kOptions};

// What was asked for to be told to a flow: its time is the endpoint's if that is shorter.
flow::Start StartOf(const Request& request, const route::Endpoint& endpoint, const flow::Flow& flow,
                    Value dataset) {
  flow::Start start;
  start.flow = endpoint.flow;
  start.input = std::move(dataset);
  start.cid = request.FindHeader("x-correlation-id").value_or(request.id());
  if (endpoint.timeout_ms < flow.ttl_ms) start.ttl_ms = endpoint.timeout_ms;
  if (!endpoint.tracing) return start;
  // traceparent: version-trace-parent-flags
  const std::string_view parent = request.FindHeader("traceparent").value_or("");
  start.trace = parent.size() >= 35 ? parent.substr(3, 32) : request.id();
  return start;
}

// Whether the function that guards an endpoint lets the request in; then also its headers.
bool LetsIn(const route::Reply& reply) {
  return reply.status < 400 && reply.body.is_bool() && reply.body.AsBool();
}

void AnswerOptions(const route::RestConfig::Match& match, Response& response) {
  if (match.options == nullptr) {
    return AnswerError(match.path_known ? 405 : 404,
                       Value(match.path_known ? "Method not allowed" : "Resource not found"),
                       response);
  }
  for (const auto& [name, value] : match.options->cors->options) response.AddHeader(name, value);
  response.NoContent(204);
}

Task<> HandleRequest(route::Host& host, Request& request, Response& response) {
  const std::shared_ptr<const route::App> app = host.app();
  const auto path = PercentDecode(request.path());
  if (!path) {
    AnswerError(400, Value("the path has a malformed escape"), response);
    co_return;
  }
  const std::string_view method =
      request.method() == Method::kHead ? "GET" : MethodName(request.method());
  const route::RestConfig::Match match = app->rest.Find(method, *path);
  if (request.method() == Method::kOptions) {
    AnswerOptions(match, response);
    co_return;
  }
  if (match.endpoint == nullptr) {
    AnswerOptions({.path_known = match.path_known}, response);
    co_return;
  }
  const route::Endpoint& endpoint = *match.endpoint;
  auto dataset = DatasetOf(request, endpoint, match.parameters);
  if (!dataset) {
    AnswerError(400, Value(dataset.error().message()), response);
    co_return;
  }
  if (!endpoint.authentication.empty()) {
    Completion<route::Reply> done(request);
    host.engine().Call(app, endpoint.authentication, Value::EmptyObject(), *dataset,
                       endpoint.timeout_ms,
                       [done](route::Reply reply) { done.Complete(std::move(reply)); });
    const Result<route::Reply> reply = co_await done;
    if (!reply) co_return;
    if (!LetsIn(*reply)) {
      const bool failed = reply->status >= 400;
      AnswerError(failed ? reply->status : 401, failed ? reply->body : Value("Unauthorized"),
                  response);
      co_return;
    }
    dataset->Set("session", reply->headers);
  }
  Completion<route::Reply> done(request);
  const auto reply_to = [done](route::Reply reply) { done.Complete(std::move(reply)); };
  for (size_t i = 1; i < endpoint.services.size(); ++i) {
    host.engine().Call(app, endpoint.services[i], Value::EmptyObject(), *dataset,
                       endpoint.timeout_ms, [](const route::Reply&) {});
  }
  route::Engine::Handle handle;
  if (endpoint.flow.empty()) {
    host.engine().Call(app, endpoint.services[0], Value::EmptyObject(), std::move(*dataset),
                       endpoint.timeout_ms, reply_to);
  } else {
    const flow::Flow& flow = *app->flows->Find(endpoint.flow);
    handle =
        host.engine().Start(app, StartOf(request, endpoint, flow, std::move(*dataset)), reply_to);
  }
  Result<route::Reply> reply = co_await done;
  if (!reply) host.engine().Abandon(handle);
  if (reply) Answer(request, endpoint, std::move(*reply), response);
}

}  // namespace

Status AddFlowEndpoints(Router& router, route::Host& host) {
  for (const Method method : kMethods) {
    for (const char* const path : {"/", "/{path...}"}) {
      RETURN_IF_ERROR(router.Add({.method = method,
                                  .path = path,
                                  .handler =
                                      [&host](Request& request, Response& response) {
                                        return HandleRequest(host, request, response);
                                      },
                                  .hidden = true}));
    }
  }
  return OkStatus();
}

}  // namespace sluice::http::rest
