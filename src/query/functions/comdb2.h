// Functions that stand for operators of SQL++ where Comdb2's rules hold (bind/comdb2.h). No
// statement can write these names.
#pragma once

#include <string_view>

#include "query/functions/function.h"

namespace sluice::query {

FunctionFamily Comdb2Functions();

// ||: any scalar becomes text.
inline constexpr std::string_view kComdb2Concat = "comdb2 concat";

}  // namespace sluice::query
