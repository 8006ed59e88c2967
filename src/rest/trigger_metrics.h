// What triggers count, for Prometheus.
#pragma once

#include <string>

#include "procedure/trigger/triggers.h"

namespace sluice::rest {

void AppendTriggerMetrics(const procedure::Triggers& triggers, std::string* out);

}  // namespace sluice::rest
