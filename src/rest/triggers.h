// /v1/triggers: triggers and consumers, for operators. They are made by SQL++.
#pragma once

#include "base/status.h"
#include "procedure/trigger/triggers.h"
#include "rest/http_types.h"

namespace sluice::rest {

// The triggers must outlive the router.
Status AddTriggerRoutes(Router& router, procedure::Triggers& triggers);

}  // namespace sluice::rest
