// What must change for a server to have the functions that an app wants.
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

// Adds the steps to `plan`. A function that runs is paused while its code or bindings change, so
// that it goes on where it was; one whose source changes is undeployed. Drops, when asked for, are
// limited to functions on the buckets that the app names. `app` outlives the plan.
void PlanFunctions(const AppDirectory& app, const FunctionsPresent& present, Prune prune,
                   Plan* plan);

}  // namespace sluice::cli
