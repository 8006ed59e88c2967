#include "flow_engine/guards.h"

#include "flow_engine/app.h"

namespace sluice::flow_engine {

void CheckGuards(const App& app, flow::Problems* problems) {
  for (const Endpoint& endpoint : app.rest.endpoints) {
    if (!endpoint.authentication.empty()) continue;
    problems->AddWarning(Error(Code::kInvalidArgument, "rest.open_endpoint",
                               "everybody who reaches the port for flows may use {} {}: say "
                               "'authentication: {}' for users of this server, or '{}' if it is "
                               "meant to be open",
                               fmt::join(endpoint.methods, ", "), endpoint.url, kUsersGuard,
                               kNoGuard)
                             .At(endpoint.place));
  }
}

}  // namespace sluice::flow_engine
