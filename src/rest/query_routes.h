// The routes of the query service.
#pragma once

#include "base/status.h"
#include "rest/http_types.h"
#include "service/query_service.h"

namespace sluice::rest {

// /query/service (query_routes.cc), /query/stream (query_stream.cc), /admin/active_requests,
// /admin/completed_requests and /admin/prepareds (query_admin.cc). The service must outlive the
// router.
Status AddQueryRoutes(Router& router, service::QueryService& service);
Status AddQueryStreamRoute(Router& router, service::QueryService& service);
Status AddQueryAdminRoutes(Router& router, service::QueryService& service);

}  // namespace sluice::rest
