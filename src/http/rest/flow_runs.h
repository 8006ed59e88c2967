// Durable runs of flows, on the admin port: /v1/flows/runs.
#pragma once

#include "http/router.h"
#include "route/host.h"

namespace sluice::http::rest {

Status AddFlowRunRoutes(Router& router, route::Host& host);

}  // namespace sluice::http::rest
