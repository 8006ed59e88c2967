// Consumers over plain HTTP: their list, and their events by long polls.
#pragma once

#include "base/status.h"
#include "rest/http_types.h"
#include "service/consumers.h"

namespace sluice::rest {

// GET /v1/consumers and POST /v1/consumers/{name}/next. The consumers must outlive the router.
Status AddConsumerRoutes(Router& router, service::Consumers& consumers);

}  // namespace sluice::rest
