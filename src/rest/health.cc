// /livez, /readyz, /healthz for whoever starts and stops servers, /metrics for Prometheus.
#include <utility>

#include "rest/access.h"
#include "rest/body.h"
#include "rest/database_metrics.h"
#include "rest/http_types.h"
#include "rest/process_metrics.h"
#include "rest/route_auth.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

Status Readiness(const Context& context) {
  switch (context.lifecycle.phase()) {
    case Lifecycle::Phase::kStarting:
      return Error(Code::kUnavailable, "server.starting", "the server is starting");
    case Lifecycle::Phase::kDraining:
      return Error(Code::kUnavailable, "server.draining", "the server is stopping");
    case Lifecycle::Phase::kReady:
      break;
  }
  const db::DatabaseStats stats = context.database.operations().Stats();
  if (!stats.read_only) return OkStatus();
  return Error(Code::kUnavailable, "server.read_only", "the last write failed: {}", stats.failure);
}

void Ready(const Context& context, Response& response) {
  const Status ready = Readiness(context);
  if (!ready.ok()) return response.Error(ready);
  response.Json(200, AnswerText(json::Value::Object({{"status", "ready"}})));
}

void ShowMetrics(const Context& context, Response& response) {
  std::string out;
  context.metrics.Append(&out);
  AppendDatabaseMetrics(context.database, &out);
  for (const auto& append : context.more_metrics) append(&out);
  AppendProcessMetrics(&out);
  response.Body(200, "text/plain; version=0.0.4; charset=utf-8", std::move(out));
}

}  // namespace

Status AddHealthRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/livez",
                              .summary = "Whether the process runs",
                              .tag = "operation",
                              .responses = {{200, "it does", Content{}}},
                              .handler = [](Request&, Response& response) {
                                response.Json(200, "{\"status\":\"live\"}\n");
                              }}));
  for (const char* path : {"/readyz", "/healthz"}) {
    RETURN_IF_ERROR(router.Add(
        {.method = Method::kGet,
         .path = path,
         .summary = "Whether the server takes reads and writes",
         .tag = "operation",
         .responses = {{200, "it does", Content{}}, {503, "it starts, stops, or could not write"}},
         .handler = [&context](Request&, Response& response) { Ready(context, response); }}));
  }
  return router.Add({.method = Method::kGet,
                     .path = "/metrics",
                     .summary = "Numbers for Prometheus",
                     .tag = "operation",
                     .responses = {{200, "text", Content{.type = "text/plain"}}},
                     .auth = std::string(kMonitor),
                     .handler = Blocking([&context](Request&, Response& response) {
                       ShowMetrics(context, response);
                     })});
}

}  // namespace sluice::rest
