// /v1/advice: what documents say about how they should be, with what was seen of their use.
#pragma once

#include "base/status.h"
#include "rest/context.h"
#include "rest/http_types.h"
#include "service/advice.h"

namespace sluice::rest {

Status AddAdviceRoutes(Router& router, const Context& context, service::CodeVisitor code);

}  // namespace sluice::rest
