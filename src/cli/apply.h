// Changes a server to match an app directory, for `sluice apply` and, on every save, for `sluice
// serve --dev`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/app_directory.h"
#include "cli/plan.h"

namespace sluice::cli {

// The plan of all changes. `app` must outlive the plan.
Result<Plan> MakeWholePlan(Api* api, const AppDirectory& app, Prune prune);

// Does the plan's steps in order, then its SQL, then writes the seeds that are absent, then sees to
// functions. `say` gets a line for each thing done. Stops at the first step that fails; every
// problem with a seed or a function is in the result.
std::vector<Status> CarryOut(Api* api, const AppDirectory& app, const Plan& plan,
                             const std::function<void(std::string_view)>& say);

}  // namespace sluice::cli
