// Window functions over the rows of a block.
#include <utility>

#include "query/error.h"
#include "query/plan/planner.h"

namespace sluice::query {

Result<PlanPtr> Planner::PlanWindows(const SelectBlock& block, PlanPtr, RowVariables) {
  return Unexpected(AtPlace(QueryError(QueryCode::kPlan, "window functions can't be used yet"),
                            block.window_calls[0].place));
}

}  // namespace sluice::query
