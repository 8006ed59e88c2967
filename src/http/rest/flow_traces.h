// Traces of runs.
#pragma once

#include "flow_engine/host.h"
#include "http/router.h"

namespace sluice::http::rest {

Status AddFlowTraceRoutes(Router& router, flow_engine::Host& host);

}  // namespace sluice::http::rest
