// What clients of Couchbase ask a node of Eventing. There is one node, which neither boots nor
// rebalances: a deployment has ended when it is answered.
#include <algorithm>
#include <thread>

#include "base/random.h"
#include "rest/access.h"
#include "rest/accounts_view.h"
#include "rest/eventing_routes.h"
#include "rest/process_metrics.h"

namespace sluice::rest {
namespace {

using function::Definition;
using json::Value;

void AnswerPlain(EventingCall& call, std::string text) {
  call.response.AddHeader("status", "0");
  call.response.Text(200, std::move(text));
}

void ShowNodeVersion(EventingCall& call) {
  const Value definition = PrintDefinition(Definition(), function::Secrets::kMasked);
  AnswerPlain(call, std::string(definition["version"].AsString()));
}

void ShowCpuCount(EventingCall& call) {
  AnswerPlain(call, std::to_string(std::max(1u, std::thread::hardware_concurrency())));
}

// Of the functions that run.
void ShowWorkerCount(EventingCall& call) {
  uint64_t workers = 0;
  for (const Definition& definition : ListManaged(call)) {
    if (definition.settings.processing) workers += definition.settings.workers();
  }
  AnswerPlain(call, std::to_string(workers));
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

// Of this process: nobody gives nodes names that last.
void ShowUuid(EventingCall& call) {
  static const std::string uuid = NewUuid();
  AnswerPlain(call, uuid);
}

void ShowNodeUser(EventingCall& call) {
  const auth::Principal& sender = SenderOf(call.request);
  call.Answer(Value::Object(
      {{"user", sender.user}, {"domain", "local"}, {"roles", RolesView(sender.grants)}}));
}

Value NameList(const std::set<std::string>& names) {
  Value list = Value::EmptyArray();
  for (const std::string& name : names) list.Append(Value(name));
  return list;
}

// Deprecated parts of the handler API that functions use, and such that they define anew.
void ShowAnnotations(EventingCall& call) {
  Value list = Value::EmptyArray();
  for (const Definition& definition : ListManaged(call)) {
    const auto prepared = function::Prepare(definition);
    if (!prepared) continue;
    const function::ProgramFacts& facts = prepared->source->facts;
    if (facts.deprecated.empty() && facts.redefined.empty()) continue;
    list.Append(Value::Object({{"name", definition.name},
                               {"deprecatedNames", NameList(facts.deprecated)},
                               {"overloadedNames", NameList(facts.redefined)}}));
  }
  call.Answer(list);
}

void ShowLogDirectory(EventingCall& call) {
  call.Answer(Value::Object({{"log_dir", call.manager.log_directory().string()}}));
}

// As Go's programs have it; /metrics has more.
void ShowVariables(EventingCall& call) {
  call.Answer(
      Value::Object({{"cmdline", Value::Array({"sluice"})},
                     {"memstats", Value::Object({{"Sys", Value::Unsigned(ResidentBytes())}})}}));
}

void ShowNone(EventingCall& call) { call.Answer(Value::EmptyObject()); }
void ShowFalse(EventingCall& call) { AnswerPlain(call, "false"); }

constexpr EventingRoute kNodeRoutes[] = {
    {Method::kGet, "/version", "The version of exported definitions", ShowNodeVersion, kKnown},
    {Method::kGet, "/uuid", "A name of this process", ShowUuid, kKnown},
    {Method::kGet, "/getUserInfo", "Who the sender is", ShowNodeUser, kKnown},
    {Method::kGet, "/getAnnotations", "Deprecated and redefined names that functions use",
     ShowAnnotations, kKnown},
    {Method::kGet, "/logFileLocation", "The directory of the functions' logs", ShowLogDirectory,
     kAdmin},
    {Method::kGet, "/debug/vars", "The memory of the process", ShowVariables, kAdmin},
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

std::span<const EventingRoute> NodeRoutes() { return kNodeRoutes; }

}  // namespace sluice::rest
