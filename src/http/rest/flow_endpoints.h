// The REST endpoints of an app (rest.yaml), on the port for flows.
#pragma once

#include "http/router.h"
#include "route/host.h"

namespace sluice::http::rest {

Status AddFlowEndpoints(Router& router, route::Host& host);

}  // namespace sluice::http::rest
