// A subquery inside an expression: its value is the array of its rows. A subquery that uses no
// variables from outside runs once per statement.
#pragma once

#include <memory>

#include "query/exec/expr.h"
#include "query/exec/operator.h"

namespace sluice::query {

class SubqueryState {
 public:
  std::unique_ptr<Operator> rows;
  bool done = false;  // `value` holds for the whole run
  Value value;
};

enum class SubqueryKind : uint8_t { kRows, kExists };

struct SubqueryOptions {
  SubqueryKind kind = SubqueryKind::kRows;
  bool correlated = false;
  uint32_t number = 0;
};

ExprPtr MakeSubquery(std::shared_ptr<const QueryPlan> plan, SubqueryOptions options);

}  // namespace sluice::query
