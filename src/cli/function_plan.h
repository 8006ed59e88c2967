// Plans the changes that give a server the functions of an app.
#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "cli/api.h"
#include "cli/app_directory.h"
#include "cli/plan.h"
#include "json/value.h"

namespace sluice::cli {

// The definitions of functions that belong to no scope, by name.
using FunctionsPresent = std::map<std::string, json::Value>;
Result<FunctionsPresent> FetchFunctions(Api* api);

// Adds the steps to `plan`. A running function is paused while its code or bindings change, so that
// it continues where it was; if its source changes, it is undeployed. With pruning, only functions
// on the buckets of the app are dropped. `app` must outlive the plan.
void PlanFunctions(const AppDirectory& app, const FunctionsPresent& present, Prune prune,
                   Plan* plan);

}  // namespace sluice::cli
