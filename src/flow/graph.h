// A flow drawn: as text that Mermaid renders.
#pragma once

#include <string>

#include "flow/plan.h"

namespace sluice::flow {

// One node a task, in the shape of its execution type; solid arrows for what follows, dotted ones
// for handlers of errors.
std::string MermaidOf(const Flow& flow);

}  // namespace sluice::flow
