// The app of flows, tasks and endpoints itself, on the admin port: /v1/flows.
#pragma once

#include "http/router.h"
#include "route/host.h"

namespace sluice::http::rest {

Status AddFlowAdminRoutes(Router& router, route::Host& host);

}  // namespace sluice::http::rest
