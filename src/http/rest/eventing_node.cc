// What clients of Couchbase ask a node of Eventing. There is one node, which neither boots nor
// rebalances: a deployment has ended when it is answered.
#include <algorithm>
#include <thread>

#include "http/rest/access.h"
#include "http/rest/eventing_routes.h"

namespace sluice::http::rest {
namespace {

using function::Definition;
using json::Value;

void AnswerText(EventingCall& call, std::string text) {
  call.response.AddHeader("status", "0");
  call.response.Text(200, std::move(text));
}

void ShowVersion(EventingCall& call) {
  const Value definition = PrintDefinition(Definition(), function::Secrets::kMasked);
  AnswerText(call, std::string(definition["version"].AsString()));
}

void ShowCpuCount(EventingCall& call) {
  AnswerText(call, std::to_string(std::max(1u, std::thread::hardware_concurrency())));
}

// Of the functions that run.
void ShowWorkerCount(EventingCall& call) {
  uint64_t workers = 0;
  for (const Definition& definition : ListManaged(call)) {
    if (definition.settings.processing) workers += definition.settings.worker_count;
  }
  AnswerText(call, std::to_string(workers));
}

// By location: their states.
template <bool kPausedToo>
void ShowDeployed(EventingCall& call) {
  Value names = Value::EmptyObject();
  for (const Definition& definition : ListManaged(call)) {
    const function::Settings& settings = definition.settings;
    if (!settings.deployed || (!kPausedToo && !settings.processing)) continue;
    names.Set(definition.Location(), settings.processing ? "deployed" : "paused");
  }
  call.Answer(names);
}

void ShowNone(EventingCall& call) { call.Answer(Value::EmptyObject()); }
void ShowFalse(EventingCall& call) { AnswerText(call, "false"); }

constexpr EventingRoute kRoutes[] = {
    {Method::kGet, "/version", "The version of exported definitions", ShowVersion, kKnown},
    {Method::kGet, "/getCpuCount", "How many processors there are", ShowCpuCount, kKnown},
    {Method::kGet, "/getWorkerCount", "How many workers run functions", ShowWorkerCount, kKnown},
    {Method::kGet, "/getDeployedApps", "Functions that are deployed, also paused ones",
     ShowDeployed<true>, kKnown},
    {Method::kGet, "/getLocallyDeployedApps", "The same, of this node", ShowDeployed<true>, kKnown},
    {Method::kGet, "/getRunningApps", "Functions that run", ShowDeployed<false>, kKnown},
    {Method::kGet, "/getBootstrappingApps", "None: deploying ends with its answer", ShowNone,
     kKnown},
    {Method::kGet, "/getPausingApps", "None: pausing ends with its answer", ShowNone, kKnown},
    {Method::kGet, "/getBootstrapStatus", "Whether functions are being deployed: false", ShowFalse,
     kKnown},
    {Method::kGet, "/getAggBootstrapStatus", "The same, of all nodes", ShowFalse, kKnown},
    {Method::kGet, "/getAggBootstrappingApps", "The same, as newer versions call it", ShowFalse,
     kKnown},
    {Method::kGet, "/getAggRebalanceProgress", "None: there is one node", ShowNone, kKnown},
    {Method::kGet, "/getAggRebalanceStatus", "Whether nodes rebalance: false", ShowFalse, kKnown},
};

}  // namespace

std::span<const EventingRoute> NodeRoutes() { return kRoutes; }

}  // namespace sluice::http::rest
