// GET /v1/flows/runs?flow=&state=&limit=&before= gives {"runs": [...], "next": ...}, the newest
// first; `next`, if there is more, is the next request's `before`.
#include "rest/flow_runs.h"

#include <limits>

#include "json/print.h"
#include "rest/access.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr int64_t kDefaultRuns = 100;
constexpr int64_t kMaxRuns = 10'000;

std::string RunIdOf(const Request& request) { return std::string(request.Param("run")); }

Result<flow_engine::Runs::Filter> RunFilterOf(const Request& request) {
  flow_engine::Runs::Filter filter;
  filter.flow = request.Query("flow").value_or("");
  filter.before = request.Query("before").value_or("");
  ASSIGN_OR_RETURN(const int64_t limit, request.QueryInt("limit", kDefaultRuns, 1, kMaxRuns));
  filter.limit = static_cast<size_t>(limit);
  if (const auto state = request.Query("state")) {
    filter.phase = flow_engine::PhaseOf(*state);
    if (!filter.phase) {
      return Fail(Code::kInvalidArgument, "http.bad_parameter",
                  "state: expected running, completed, failed or cancelled, got '{}'", *state);
    }
  }
  return filter;
}

void ListRuns(flow_engine::Host& host, const Request& request, Response& response) {
  const auto filter = RunFilterOf(request);
  if (!filter) return response.Error(filter.error());
  const auto page = host.runs().List(*filter);
  if (!page) return response.Error(page.error());
  Value runs = Value::EmptyArray();
  for (const flow_engine::RunHead& head : page->runs) runs.Append(flow_engine::ViewOf(head));
  Value answer = Value::Object({{"runs", std::move(runs)}});
  if (!page->next.empty()) answer.Set("next", Value(page->next));
  response.Json(200, json::ToText(answer));
}

void ShowRun(flow_engine::Host& host, const Request& request, Response& response) {
  const auto run = host.runs().Show(RunIdOf(request));
  if (!run) return response.Error(run.error());
  response.Json(200, json::ToText(*run));
}

void Cancel(flow_engine::Host& host, const Request& request, Response& response) {
  const Status status = host.runs().Cancel(RunIdOf(request));
  if (!status.ok()) return response.Error(status);
  response.NoContent(204);
}

void RetryRun(flow_engine::Host& host, const Request& request, Response& response) {
  std::optional<uint32_t> step;
  if (request.Query("step")) {
    const auto number = request.QueryInt("step", 1, 1, std::numeric_limits<int32_t>::max());
    if (!number) return response.Error(number.error());
    step = static_cast<uint32_t>(*number);
  }
  const Status status = host.runs().Retry(RunIdOf(request), step);
  if (!status.ok()) return response.Error(status);
  response.NoContent(204);
}

using Handle = void (*)(flow_engine::Host&, const Request&, Response&);

Route RouteOf(flow_engine::Host& host, Method method, std::string path, std::string summary,
              Handle handle) {
  return {.method = method,
          .path = std::move(path),
          .summary = std::move(summary),
          .tag = "flows",
          .auth = std::string(kAdmin),
          .handler = Blocking([&host, handle](Request& request, Response& response) {
            handle(host, request, response);
          })};
}

}  // namespace

Status AddFlowRunRoutes(Router& router, flow_engine::Host& host) {
  Route list =
      RouteOf(host, Method::kGet, "/v1/flows/runs", "Durable runs, the newest first", ListRuns);
  list.parameters = {
      {.name = "flow", .description = "only runs of this flow"},
      {.name = "state", .description = "running, completed, failed or cancelled"},
      {.name = "limit", .description = "the most to list; default 100", .type = "integer"},
      {.name = "before", .description = "`next` of the page before"}};
  list.responses = {{.status = 200, .description = "The runs, and `next` if there are more"}};
  RETURN_IF_ERROR(router.Add(std::move(list)));
  Route show =
      RouteOf(host, Method::kGet, "/v1/flows/runs/{run}",
              "A run: its steps with their inputs and outputs, what it waits for", ShowRun);
  show.responses = {{.status = 200, .description = "The run"},
                    {.status = 404, .description = "There is no such run"}};
  RETURN_IF_ERROR(router.Add(std::move(show)));
  Route cancel = RouteOf(host, Method::kPost, "/v1/flows/runs/{run}/cancel", "End a run", Cancel);
  cancel.responses = {{.status = 204, .description = "It has ended"},
                      {.status = 404, .description = "There is no such run"},
                      {.status = 409, .description = "It had ended before"}};
  RETURN_IF_ERROR(router.Add(std::move(cancel)));
  Route retry = RouteOf(host, Method::kPost, "/v1/flows/runs/{run}/retry",
                        "Run a finished run again from one of its steps", RetryRun);
  retry.parameters.push_back({.name = "step",
                              .description = "the step whose task is called again; the last one "
                                             "unless given",
                              .type = "integer"});
  retry.responses = {{.status = 204, .description = "It runs"},
                     {.status = 404, .description = "There is no such run or step"},
                     {.status = 409, .description = "It is running"}};
  return router.Add(std::move(retry));
}

}  // namespace sluice::rest
