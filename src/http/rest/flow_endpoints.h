// The REST endpoints of an app (rest.yaml), on the port for flows; and, on the admin port, the app
// itself.
#pragma once

#include "http/router.h"
#include "route/host.h"

namespace sluice::http::rest {

Status AddFlowEndpoints(Router& router, route::Host& host);
Status AddFlowAdminRoutes(Router& router, route::Host& host);

}  // namespace sluice::http::rest
