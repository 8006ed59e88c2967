// Window functions: each row stays, with values that were computed over the rows around it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/exec/expr.h"
#include "query/exec/operator.h"
#include "query/exec/row_keeper.h"
#include "query/exec/sort_order.h"
#include "query/functions/aggregate.h"
#include "query/parse/ast.h"
#include "query/user_functions.h"

namespace sluice::query {

enum class WindowFunction : uint8_t {
  kAggregate,
  kCumeDist,
  kDenseRank,
  kFirstValue,
  kLag,
  kLastValue,
  kLead,
  kNthValue,
  kNtile,
  kPercentRank,
  kRank,
  kRatioToReport,
  kRowNumber,
};

// The rows around a row that a call looks at. Offsets are inputs of the call.
struct FrameOptions {
  WindowFrame::Unit unit = WindowFrame::Unit::kRange;
  WindowFrame::Bound start = WindowFrame::Bound::kUnboundedPreceding;
  WindowFrame::Bound end = WindowFrame::Bound::kCurrentRow;
  WindowFrame::Exclude exclude = WindowFrame::Exclude::kNoOthers;
  std::optional<size_t> start_offset;
  std::optional<size_t> end_offset;

  // Each row's frame has all rows of the one before.
  bool OnlyGrows() const {
    return start == WindowFrame::Bound::kUnboundedPreceding &&
           exclude == WindowFrame::Exclude::kNoOthers;
  }
};

struct WindowCall {
  WindowFunction function = WindowFunction::kAggregate;
  const AggregateFunction* aggregate = nullptr;       // of kAggregate, and SUM of kRatioToReport
  std::shared_ptr<const UserFunction> user_function;  // of UserAggregateFunction()
  // Evaluated for each row: the arguments, then the filter and the offsets of the frame.
  std::vector<ExprPtr> inputs;
  size_t arguments = 0;
  std::optional<size_t> filter;
  bool distinct = false;
  bool ignore_nulls = false;
  bool from_last = false;
  FrameOptions frame;
  Slot slot = 0;
  std::string text;

  size_t first_column = 0;  // of the inputs; set by MakeWindow
};

// Calls that share a sort.
struct WindowGroup {
  std::vector<ExprPtr> partition_by;
  std::vector<SortKey> order_by;
  std::vector<WindowCall> calls;

  size_t first_column = 0;  // partition keys, then order keys; set by MakeWindow
};

struct WindowOptions {
  PlanPtr input;
  RowVariables variables;  // of the input's rows
  std::vector<WindowGroup> groups;

  size_t columns = 0;  // set by MakeWindow
  size_t calls = 0;
};
// The rows come out in the order in which they came in.
PlanPtr MakeWindow(WindowOptions options);

}  // namespace sluice::query
