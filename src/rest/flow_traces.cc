// GET /v1/flows/traces?flow=&min=&failed=&limit= gives {"traces": [...]}, the newest first; GET
// /v1/flows/traces/{trace} gives {"trace": ..., "runs": [...]} with the spans of all runs that
// belong to the trace.
#include "rest/flow_traces.h"

#include "json/print.h"
#include "rest/access.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr int64_t kDefaultTraces = 100;
constexpr int64_t kMaxTraces = 100'000;
constexpr uint64_t kNsPerMs = 1'000'000;

Result<flow_engine::TraceStore::Filter> TraceFilterOf(const Request& request) {
  flow_engine::TraceStore::Filter filter;
  filter.flow = request.Query("flow").value_or("");
  ASSIGN_OR_RETURN(const int64_t limit, request.QueryInt("limit", kDefaultTraces, 1, kMaxTraces));
  filter.limit = static_cast<size_t>(limit);
  ASSIGN_OR_RETURN(const uint64_t least_ms, request.QueryDurationMs("min", 0));
  filter.least_ns = least_ms * kNsPerMs;
  ASSIGN_OR_RETURN(filter.failed, request.QueryBool("failed", false));
  return filter;
}

void ListTraces(flow_engine::Host& host, const Request& request, Response& response) {
  const auto filter = TraceFilterOf(request);
  if (!filter) return response.Error(filter.error());
  Value traces = Value::EmptyArray();
  for (const flow_engine::TracePtr& trace : host.engine().traces().List(*filter)) {
    traces.Append(flow_engine::SummaryOf(*trace));
  }
  response.Json(200, json::ToText(Value::Object({{"traces", std::move(traces)}})));
}

void ShowTrace(flow_engine::Host& host, const Request& request, Response& response) {
  const std::string_view id = request.Param("trace");
  const auto found = host.engine().traces().Find(id);
  if (found.empty()) {
    return response.Error(Error(
        Code::kNotFound, "flow.no_trace",
        "there is no trace '{}': of the runs since the server started, the latest {} are kept", id,
        host.engine().traces().kept()));
  }
  Value runs = Value::EmptyArray();
  for (const flow_engine::TracePtr& trace : found) runs.Append(flow_engine::ViewOf(*trace));
  response.Json(
      200, json::ToText(Value::Object({{"trace", found[0]->id()}, {"runs", std::move(runs)}})));
}

}  // namespace

Status AddFlowTraceRoutes(Router& router, flow_engine::Host& host) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/v1/flows/traces",
       .summary = "The latest runs and how long they took, the newest first",
       .tag = "flows",
       .parameters =
           {{.name = "flow", .description = "only runs of this flow"},
            {.name = "min", .description = "only runs that took at least this long, such as 100ms"},
            {.name = "failed", .description = "only runs that failed", .type = "boolean"},
            {.name = "limit", .description = "the most to list; default 100", .type = "integer"}},
       .responses = {{.status = 200, .description = "The traces"}},
       .auth = std::string(kAdmin),
       .handler = [&host](Request& request, Response& response) {
         ListTraces(host, request, response);
       }}));
  return router.Add({.method = Method::kGet,
                     .path = "/v1/flows/traces/{trace}",
                     .summary = "A trace: the times of every task, as a tree",
                     .tag = "flows",
                     .parameters = {{.name = "trace",
                                     .in = Parameter::In::kPath,
                                     .description = "the id of the trace, or of a run"}},
                     .responses = {{.status = 200, .description = "The runs of the trace"},
                                   {.status = 404, .description = "It is not kept"}},
                     .auth = std::string(kAdmin),
                     .handler = [&host](Request& request, Response& response) {
                       ShowTrace(host, request, response);
                     }});
}

}  // namespace sluice::rest
