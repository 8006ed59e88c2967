// What functions do: states and their changes, statistics, logs.
#include "rest/access.h"
#include "rest/body.h"
#include "rest/eventing_routes.h"

namespace sluice::rest {
namespace {

using function::Definition;
using function::Manager;
using json::Value;

using StateChange = Status (Manager::*)(const std::string&);

template <StateChange kChange>
void ChangeState(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  call.Done((call.manager.*kChange)(definition->Location()), "");
}

Value FunctionStatusView(const function::FunctionStatus& status) {
  using function::State;
  const Definition& definition = *status.definition;
  const bool deployed = definition.settings.deployed;
  const bool starts = status.state == State::kDeploying || status.state == State::kResuming;
  return Value::Object({{"composite_status", function::StateName(status.state)},
                        {"name", definition.name},
                        {"function_scope", Value::Object({{"bucket", definition.scope_bucket},
                                                          {"scope", definition.scope_scope}})},
                        {"num_bootstrapping_nodes", starts ? 1 : 0},
                        {"num_deployed_nodes", deployed && !starts ? 1 : 0},
                        {"deployment_status", deployed},
                        {"processing_status", definition.settings.processing},
                        {"redeploy_required", false},
                        {"caught_up", status.caught_up},
                        {"failure", status.failure}});
}

void ShowStatuses(EventingCall& call) {
  Value list = Value::EmptyArray();
  for (const Definition& definition : ListManaged(call)) {
    const auto status = call.manager.StatusOf(definition.Location());
    if (status) list.Append(FunctionStatusView(*status));
  }
  // Of none, Couchbase says null, and couchbase-cli asks for that.
  if (list.size() == 0) list = Value(nullptr);
  call.Answer(Value::Object({{"apps", std::move(list)}, {"num_eventing_nodes", 1}}));
}

void ShowFunctionStatus(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  const auto status = call.manager.StatusOf(definition->Location());
  if (!status) return call.Refuse(status.error());
  call.Answer(Value::Object({{"app", FunctionStatusView(*status)}, {"num_eventing_nodes", 1}}));
}

void ShowAllStatistics(EventingCall& call) {
  Value list = Value::EmptyArray();
  for (const Definition& definition : ListManaged(call)) {
    const auto statistics = call.manager.StatisticsOf(definition.Location());
    if (statistics) list.Append(*statistics);
  }
  call.Answer(list);
}

void ShowStatistics(EventingCall& call) {
  const auto definition = FindManaged(call, call.location());
  if (!definition) return call.Refuse(definition.error());
  const Result<Value> statistics = call.manager.StatisticsOf(definition->Location());
  if (!statistics) return call.Refuse(statistics.error());
  call.Answer(*statistics);
}

void ResetStatistics(EventingCall& call) {
  const auto definition = FindNamed(call, "appName");
  if (!definition) return call.Refuse(definition.error());
  call.Done(call.manager.ResetStatistics(definition->Location()), "");
}

// One group of a function's statistics, as older clients ask for it.
template <const char* kGroup>
void ShowGroup(EventingCall& call) {
  const auto definition = FindNamed(call, "name");
  if (!definition) return call.Refuse(definition.error());
  const Result<Value> statistics = call.manager.StatisticsOf(definition->Location());
  if (!statistics) return call.Refuse(statistics.error());
  call.Answer((*statistics)[kGroup]);
}

// Newest first, whole lines, at most `size` bytes. There is one node, so that ?aggregate= has
// nothing to add.
Result<std::string> LogText(const EventingCall& call) {
  ASSIGN_OR_RETURN(const Definition definition, FindNamed(call, "name"));
  ASSIGN_OR_RETURN(const int64_t size, call.request.QueryInt("size", 40960, 1, 64 << 20));
  ASSIGN_OR_RETURN(const bool aggregate, call.request.QueryBool("aggregate", false));
  static_cast<void>(aggregate);
  ASSIGN_OR_RETURN(const std::vector<std::string> records,
                   call.manager.Log(definition.Location(), static_cast<size_t>(size)));
  std::string text;
  for (const std::string& record : records) text += record + "\n";
  return text;
}

void ShowLog(EventingCall& call) {
  Result<std::string> text = LogText(call);
  if (!text) return call.Refuse(text.error());
  call.response.AddHeader("status", "0");
  call.response.Text(200, std::move(*text));
}

// There is one node, so that ?aggregate= has nothing to add. Without a name: of all, by location.
Result<Value> InsightView(const EventingCall& call) {
  ASSIGN_OR_RETURN(const bool aggregate, call.request.QueryBool("aggregate", false));
  static_cast<void>(aggregate);
  if (call.request.Query("name")) {
    ASSIGN_OR_RETURN(const Definition definition, FindNamed(call, "name"));
    return call.manager.InsightOf(definition.Location());
  }
  Value all = Value::EmptyObject();
  for (const Definition& definition : ListManaged(call)) {
    const auto insight = call.manager.InsightOf(definition.Location());
    if (insight) all.Set(definition.Location(), *insight);  // else it was deleted meanwhile
  }
  return all;
}

void ShowInsight(EventingCall& call) {
  const Result<Value> insight = InsightView(call);
  if (!insight) return call.Refuse(insight.error());
  call.Answer(*insight);
}

constexpr char kExecution[] = "execution_stats";
constexpr char kFailures[] = "failure_stats";
constexpr char kLatencies[] = "latency_stats";
constexpr char kRemaining[] = "events_remaining";

constexpr EventingRoute kStateRoutes[] = {
    {Method::kPost, "/api/v1/functions/{name}/deploy", "Deploy, or resume",
     ChangeState<&Manager::Deploy>, kKnown},
    {Method::kPost, "/api/v1/functions/{name}/undeploy", "Undeploy",
     ChangeState<&Manager::Undeploy>, kKnown},
    {Method::kPost, "/api/v1/functions/{name}/pause", "Pause", ChangeState<&Manager::Pause>,
     kKnown},
    {Method::kPost, "/api/v1/functions/{name}/resume", "Resume", ChangeState<&Manager::Resume>,
     kKnown},
    {Method::kGet, "/api/v1/status", "States of all functions", ShowStatuses, kKnown},
    {Method::kGet, "/getStatus", "The same, as older clients ask", ShowStatuses, kKnown},
    {Method::kGet, "/api/v1/status/{name}", "A function's state", ShowFunctionStatus, kKnown},
    {Method::kGet, "/api/v1/stats", "Statistics of all functions", ShowAllStatistics, kKnown},
    {Method::kGet, "/api/v1/stats/{name}", "A function's statistics", ShowStatistics, kKnown},
    {Method::kGet, "/getExecutionStats", "Execution statistics of a function",
     ShowGroup<kExecution>, kKnown},
    {Method::kGet, "/getFailureStats", "Failure statistics of a function", ShowGroup<kFailures>,
     kKnown},
    {Method::kGet, "/getLatencyStats", "How long a function's invocations took",
     ShowGroup<kLatencies>, kKnown},
    {Method::kGet, "/getDcpEventsRemaining", "How many changes a function has before it",
     ShowGroup<kRemaining>, kKnown},
    {Method::kGet, "/resetStatsCounters", "Let a function's statistics begin at 0", ResetStatistics,
     kKnown},
    {Method::kGet, "/getAppLog", "The log of a function, newest first", ShowLog, kKnown},
    {Method::kGet, "/getInsight", "Calls, errors and logs of each line of a function", ShowInsight,
     kKnown},
};

}  // namespace

std::span<const EventingRoute> StateRoutes() { return kStateRoutes; }

}  // namespace sluice::rest
