// A flow drawn: as text that Mermaid renders, and as SVG.
#pragma once

#include <string>
#include <vector>

#include "flow/plan.h"

namespace sluice::flow {

// One node for each task, in the shape of its execution type; solid arrows lead to next tasks,
// dotted ones to exception handlers.
std::string MermaidOf(const Flow& flow);

// A picture by itself: tasks in rows by how many steps they are from the first one.
std::string SvgOf(const Flow& flow);

// A way from one task to another. Arrows are in the order of the tasks.
struct Arrow {
  enum class Kind : uint8_t { kNext, kError };

  TaskIndex from = kNoTask;
  TaskIndex to = kNoTask;
  std::string label;  // the number of a decision, `join`, `step 1`; or nothing
  Kind kind = Kind::kNext;
};
std::vector<Arrow> ArrowsOf(const Flow& flow);

}  // namespace sluice::flow
