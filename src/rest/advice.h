// /v1/advice: what documents say about how they should be, with what was seen of their use.
#pragma once

#include <functional>
#include <string_view>

#include "base/status.h"
#include "rest/context.h"
#include "rest/http_types.h"

namespace sluice::rest {

// Calls its argument with the text of each function, procedure and flow there is.
using CodeVisitor = std::function<void(const std::function<void(std::string_view code)>&)>;

Status AddAdviceRoutes(Router& router, Context& context, CodeVisitor code);

}  // namespace sluice::rest
