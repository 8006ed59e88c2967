// Metrics of flows.
#pragma once

#include <string>

#include "route/host.h"
#include "route/otlp.h"

namespace sluice::http::rest {

void AppendFlowMetrics(route::Host& host, std::string* out);
void AppendTraceMetrics(const route::OtlpExporter& exporter, std::string* out);

}  // namespace sluice::http::rest
