// What functions count, for Prometheus, with the names that Couchbase has.
#pragma once

#include <string>

#include "function/manager.h"

namespace sluice::rest {

void AppendFunctionMetrics(const function::Manager& manager, std::string* out);

}  // namespace sluice::rest
