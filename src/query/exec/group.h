// GROUP BY and aggregates, by hashing; LIMIT and ORDER BY over rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "query/exec/expr.h"
#include "query/exec/operator.h"
#include "query/exec/sort_order.h"
#include "query/exec/steps.h"
#include "query/functions/aggregate.h"
#include "query/user_functions.h"

namespace sluice::query {

struct AggregateExpr {
  const AggregateFunction* function = nullptr;
  std::shared_ptr<const UserFunction> user_function;  // of UserAggregateFunction()
  ExprPtr argument;                                   // null for COUNT(*)
  bool distinct = false;
  ExprPtr filter;
  Slot slot = 0;
  std::string text;
};

struct GroupOptions {
  PlanPtr input;
  std::vector<SlotAssignment> keys;
  std::vector<AggregateExpr> aggregates;
  // GROUP AS: the value to collect of each row, and its slot.
  ExprPtr group_item;
  Slot group_slot = 0;
};
// Without keys there is always one row.
PlanPtr MakeGroup(GroupOptions options);

struct SortOptions {
  PlanPtr input;
  std::vector<SortKey> keys;
  ExprPtr result;  // made of a row only if it is among the first
  Slot slot = 0;
  ExprPtr limit;  // either may be null
  ExprPtr offset;
};
// Sorted results. With a limit only that many are kept.
PlanPtr MakeSort(SortOptions options);

}  // namespace sluice::query
