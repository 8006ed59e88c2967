// Metrics of flows.
#pragma once

#include <string>

#include "route/host.h"

namespace sluice::http::rest {

void AppendFlowMetrics(route::Host& host, std::string* out);

}  // namespace sluice::http::rest
