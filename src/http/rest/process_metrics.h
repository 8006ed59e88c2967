// The process's part of /metrics, under the names that Prometheus clients use everywhere.
#pragma once

#include <string>

namespace sluice::http::rest {

void AppendProcessMetrics(std::string* out);

}  // namespace sluice::http::rest
