// Durable runs of flows, on the admin port: /v1/flows/runs.
#pragma once

#include "flow_engine/host.h"
#include "rest/http_types.h"

namespace sluice::rest {

Status AddFlowRunRoutes(Router& router, flow_engine::Host& host);

}  // namespace sluice::rest
