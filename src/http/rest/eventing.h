// The REST interface of Couchbase Eventing: /api/v1/functions and what belongs to it.
#pragma once

#include <string>

#include "base/status.h"
#include "function/manager.h"
#include "http/router.h"

namespace sluice::http::rest {

// `prefix` goes before every path: "" on the listener of its own, "/_p/event" on the admin's.
Status AddEventingRoutes(Router& router, function::Manager& manager, const std::string& prefix);

}  // namespace sluice::http::rest
