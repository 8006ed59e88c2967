// The app of flows, tasks and endpoints itself, on the admin port: /v1/flows.
#pragma once

#include <cstdint>

#include "flow_engine/host.h"
#include "rest/http_types.h"

namespace sluice::rest {

// Endpoints without authentication: where there are no users they are meant so.
enum class OpenEndpoints : uint8_t { kMeant, kToldOf };

Status AddFlowAdminRoutes(Router& router, flow_engine::Host& host, OpenEndpoints open);

}  // namespace sluice::rest
