// The REST interface of Couchbase Eventing: /api/v1/functions and what belongs to it.
#pragma once

#include <string>

#include "base/status.h"
#include "function/manager.h"
#include "http/rights_watch.h"
#include "rest/http_types.h"

namespace sluice::rest {

struct EventingListener {
  // Before every path: "" on the listener of its own, "/_p/event" on the admin's.
  std::string prefix;
  bool tls = false;
  const http::RightsWatch& rights;  // of debuggers' clients
};
Status AddEventingRoutes(Router& router, function::Manager& manager,
                         const EventingListener& listener);

}  // namespace sluice::rest
