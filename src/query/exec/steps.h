// Operators that handle rows one by one: filter, LET, results, DISTINCT, LIMIT, set operations,
// WITH.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "query/exec/expr.h"
#include "query/exec/operator.h"
#include "query/parse/ast.h"

namespace sluice::query {

PlanPtr MakeFilter(PlanPtr input, ExprPtr condition, std::string text);

struct SlotAssignment {
  Slot slot = 0;
  ExprPtr value;
  std::string name;
};
PlanPtr MakeLet(PlanPtr input, std::vector<SlotAssignment> assignments);

// Leaves each row's result in a slot.
PlanPtr MakeProject(PlanPtr input, ExprPtr result, Slot slot, std::string text);

// Each result once.
PlanPtr MakeDistinct(PlanPtr input, Slot slot);

// Either may be null.
PlanPtr MakeLimit(PlanPtr input, ExprPtr limit, ExprPtr offset);
// The value of a LIMIT or OFFSET: whole, at least 0; other values fail the run.
uint64_t CountOf(Context& context, const Expr& expr, std::string_view clause);

struct SetOperationOptions {
  SetOperator op = SetOperator::kUnion;
  bool all = false;
  QueryPlan left;
  QueryPlan right;
  Slot result = 0;
};
PlanPtr MakeSetOperation(SetOperationOptions options);

// Sets the tables of WITH before the first row.
struct TableDefinition {
  std::string name;
  Slot slot = 0;
  ExprPtr value;
  // A recursive table: `value` is its start, `step` its rows made from the last round's.
  std::shared_ptr<const QueryPlan> step;
  bool distinct = false;  // UNION rather than UNION ALL
  uint64_t max_levels = UINT64_MAX;
  uint64_t max_documents = UINT64_MAX;
  std::vector<std::string> cycle_fields;  // a row that repeats these on its way is left out
};
PlanPtr MakeWith(PlanPtr input, std::vector<TableDefinition> tables);

}  // namespace sluice::query
