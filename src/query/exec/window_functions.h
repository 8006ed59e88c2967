// Computes one call for all rows of a partition.
#pragma once

#include <functional>

#include "query/exec/window_frame.h"

namespace sluice::query {

// `set` is called once for each position, unless the run fails.
using SetResult = std::function<void(size_t position, Value result)>;
void ComputeWindowCall(Context& context, const WindowCall& call, const WindowPartition& partition,
                       const SetResult& set);

}  // namespace sluice::query
