#include "cli/function_plan.h"

#include <utility>

#include "cli/function_path.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

using json::Value;

constexpr std::string_view kMasked = "*****";

enum class State : uint8_t { kUndeployed, kPaused, kDeployed };

State FunctionStateOf(const Value& definition) {
  const Value& settings = definition["settings"];
  if (settings["deployment_status"] != Value(true)) return State::kUndeployed;
  return settings["processing_status"] == Value(true) ? State::kDeployed : State::kPaused;
}

ApiRequest Post(const std::string& name, std::string_view what) {
  return {.method = "POST", .path = FunctionPath("functions", name, what)};
}

ApiRequest PostDefinition(const FunctionSpec& function, std::string_view what = "") {
  return {.method = "POST",
          .path = FunctionPath("functions", function.name, what),
          .headers = {{"Content-Type", "application/json"}},
          .body = json::ToText(function.definition)};
}

// A secret that the server hides counts as unchanged.
Value WithoutSecrets(const Value& depcfg, const Value& present) {
  Value copy = depcfg;
  Value urls = Value::EmptyArray();
  for (size_t i = 0; i < depcfg["curl"].size(); ++i) {
    Value url = depcfg["curl"][i];
    for (const std::string_view secret : {"password", "bearer_key"}) {
      if (present["curl"][i][secret] == Value(kMasked)) url.Set(secret, Value(kMasked));
    }
    urls.Append(std::move(url));
  }
  copy.Set("curl", std::move(urls));
  return copy;
}

bool SameSettings(const Value& wanted, const Value& present) {
  for (const json::Field& field : wanted.fields()) {
    if (field.name() == "deployment_status" || field.name() == "processing_status") continue;
    if (present[field.name()] != field.value) return false;
  }
  return true;
}

bool Same(const Value& wanted, const Value& present) {
  return wanted["appcode"] == present["appcode"] &&
         WithoutSecrets(wanted["depcfg"], present["depcfg"]) == present["depcfg"] &&
         SameSettings(wanted["settings"], present["settings"]);
}

// Whether it may change while it is paused.
bool KeepsItsPlace(const Value& wanted, const Value& present) {
  for (const std::string_view field :
       {"source_bucket", "source_scope", "source_collection", "metadata_bucket", "metadata_scope",
        "metadata_collection"}) {
    if (wanted["depcfg"][field] != present["depcfg"][field]) return false;
  }
  const Value& boundary = wanted["settings"]["dcp_stream_boundary"];
  return boundary.is_missing() || boundary == present["settings"]["dcp_stream_boundary"];
}

std::vector<ApiRequest> Change(const FunctionSpec& function, const Value& present) {
  const State state = FunctionStateOf(present);
  std::vector<ApiRequest> requests;
  // The old function continues if the new one can't be deployed.
  if (state == State::kDeployed && function.deploy) {
    requests.push_back(PostDefinition(function, "check"));
  }
  const bool keeps = function.deploy && KeepsItsPlace(function.definition, present);
  if (state != State::kUndeployed && !keeps) requests.push_back(Post(function.name, "undeploy"));
  if (state == State::kDeployed && keeps) requests.push_back(Post(function.name, "pause"));
  requests.push_back(PostDefinition(function));
  return requests;
}

void PlanOne(const FunctionSpec& function, const Value* present, Plan* plan) {
  const auto add = [&](Step::Kind kind, std::string what, std::vector<ApiRequest> requests) {
    plan->functions.push_back({kind, std::move(what), std::move(requests), &function});
  };
  const std::string what = "function " + function.name;
  const State wanted = function.deploy ? State::kDeployed : State::kUndeployed;
  if (present == nullptr) {
    add(Step::Kind::kCreate, what, {PostDefinition(function)});
  } else if (!Same(function.definition, *present)) {
    add(Step::Kind::kAlter, what, Change(function, *present));
  } else if (FunctionStateOf(*present) != wanted) {
    add(Step::Kind::kAlter, fmt::format("{} ({})", what, function.deploy ? "deploy" : "undeploy"),
        {Post(function.name, function.deploy ? "deploy" : "undeploy")});
  }
}

bool IsWanted(const AppDirectory& app, const std::string& name) {
  for (const FunctionSpec& function : app.functions) {
    if (function.name == name) return true;
  }
  return false;
}

}  // namespace

Result<FunctionsPresent> FetchFunctions(Api* api) {
  ASSIGN_OR_RETURN(const Value list, api->CallJson({.path = FunctionPath("functions")}));
  FunctionsPresent present;
  for (const Value& one : list.items()) {
    if (one["function_scope"]["bucket"] != Value("*") || !one["appname"].is_string()) continue;
    present.emplace(one["appname"].AsString(), one);
  }
  return present;
}

void PlanFunctions(const AppDirectory& app, const FunctionsPresent& present, Prune prune,
                   Plan* plan) {
  for (const FunctionSpec& function : app.functions) {
    const auto found = present.find(function.name);
    PlanOne(function, found == present.end() ? nullptr : &found->second, plan);
  }
  for (const auto& [name, definition] : present) {
    const Value& bucket = definition["depcfg"]["source_bucket"];
    const bool ours =
        bucket.is_string() && app.keyspaces.buckets.contains(std::string(bucket.AsString()));
    if (!ours || IsWanted(app, name)) continue;
    if (prune == Prune::kNo) {
      plan->kept.push_back("function " + name);
      continue;
    }
    // Before keyspaces that it needs are dropped.
    Step step{Step::Kind::kDrop, "function " + name, {}};
    if (FunctionStateOf(definition) != State::kUndeployed) {
      step.requests.push_back(Post(name, "undeploy"));
    }
    step.requests.push_back({.method = "DELETE", .path = FunctionPath("functions", name)});
    plan->steps.insert(plan->steps.begin(), std::move(step));
  }
}

}  // namespace sluice::cli
