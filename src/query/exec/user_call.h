// Calls of functions that users have written (user_functions.h). MISSING arrives there as NULL.
#pragma once

#include <memory>
#include <vector>

#include "query/exec/expr.h"
#include "query/functions/aggregate.h"
#include "query/user_functions.h"

namespace sluice::query {

ExprPtr MakeUserCall(std::shared_ptr<const UserFunction> function, std::vector<ExprPtr> args);

// Stands for all aggregates of users where those of this module have an AggregateFunction: rows
// come to them one after the other, and none is taken out again.
const AggregateFunction& UserAggregateFunction();
// Each value that is added is the array of a row's arguments. A failure fails the context's run.
std::unique_ptr<Accumulator> MakeUserAccumulator(Context& context, const UserFunction& function);

}  // namespace sluice::query
