// CAST(value AS type).
#pragma once

#include "query/functions/function.h"

namespace sluice::query {

FunctionFamily CastFunctions();

}  // namespace sluice::query
