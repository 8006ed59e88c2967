// Traces of runs.
#pragma once

#include "flow_engine/host.h"
#include "rest/http_types.h"

namespace sluice::rest {

Status AddFlowTraceRoutes(Router& router, flow_engine::Host& host);

}  // namespace sluice::rest
