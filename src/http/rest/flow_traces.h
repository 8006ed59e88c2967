// Traces of runs.
#pragma once

#include "http/router.h"
#include "route/host.h"

namespace sluice::http::rest {

Status AddFlowTraceRoutes(Router& router, route::Host& host);

}  // namespace sluice::http::rest
