// The text of `loop.statement` and `loop.condition`.
#pragma once

#include <string_view>

#include "base/status.h"
#include "flow/plan.h"

namespace sluice::flow {

// Error flow.bad_loop.
Status ParseLoopStatement(std::string_view text, Loop* loop);
// `if (model.quit) break`, appended to the loop's conditions. Error flow.bad_loop.
Status ParseLoopCondition(std::string_view text, Loop* loop);

}  // namespace sluice::flow
