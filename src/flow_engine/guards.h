// Guards that are no functions of the app, and endpoints without one.
#pragma once

#include <string_view>

#include "flow/problem.h"

namespace sluice::flow_engine {

struct App;

// Lets in the server's own users and tokens. No function of an app is called under this name.
inline constexpr std::string_view kUsersGuard = "sluice.users";
// Says that everybody is meant to get in.
inline constexpr std::string_view kNoGuard = "none";

// Warnings rest.open_endpoint, for servers with users: endpoints that do not say who may use them.
void CheckGuards(const App& app, flow::Problems* problems);

}  // namespace sluice::flow_engine
