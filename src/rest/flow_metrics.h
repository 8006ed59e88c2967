// Metrics of flows.
#pragma once

#include <string>

#include "flow_engine/host.h"
#include "flow_engine/otlp.h"

namespace sluice::rest {

void AppendFlowMetrics(flow_engine::Host& host, std::string* out);
void AppendTraceMetrics(const flow_engine::OtlpExporter& exporter, std::string* out);

}  // namespace sluice::rest
