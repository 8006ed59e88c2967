// The process's part of /metrics, under the names that Prometheus clients use everywhere.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::rest {

void AppendProcessMetrics(std::string* out);
uint64_t ResidentBytes();

}  // namespace sluice::rest
