// The REST endpoints of an app (rest.yaml), on the port for flows.
#pragma once

#include "flow_engine/host.h"
#include "rest/http_types.h"

namespace sluice::rest {

// Their requests must have passed the Gate. Bodies of more than `max_body_bytes` are streams, where
// endpoints allow it.
Status AddFlowEndpoints(Router& router, flow_engine::Host& host, size_t max_body_bytes);

}  // namespace sluice::rest
