// The REST interface of Couchbase Eventing: /api/v1/functions and what belongs to it.
#pragma once

#include <string>

#include "base/status.h"
#include "function/manager.h"
#include "rest/http_types.h"

namespace sluice::rest {

struct EventingListener {
  std::string
      prefix;  // before every path: "" on the listener of its own, "/_p/event" on the admin's
  bool tls = false;
};
Status AddEventingRoutes(Router& router, function::Manager& manager,
                         const EventingListener& listener);

}  // namespace sluice::rest
