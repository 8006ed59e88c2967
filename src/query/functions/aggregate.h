// Aggregate functions: COUNT, SUM, ARRAY_AGG, ... over the rows of a group or of a window frame.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "query/functions/function.h"

namespace sluice::query {

// The state of one aggregate for one group. The caller handles DISTINCT and FILTER.
class Accumulator {
 public:
  virtual ~Accumulator() = default;

  virtual void Add(const Value& value) = 0;
  // Adds the values of another accumulator of the same function.
  virtual void Merge(Accumulator& other) = 0;
  virtual Value Finish(FunctionContext& context) = 0;
  // About how much memory the state has taken beyond a constant.
  virtual size_t bytes() const { return 0; }
  // Undoes an Add, where the function can (`removable`).
  virtual void Remove(const Value& value) { (void)value; }
};

// The largest of them has as many bytes.
inline constexpr size_t kMaxAccumulatorBytes = 144;

struct AggregateFunction {
  std::string_view name;  // lower case
  std::unique_ptr<Accumulator> (*make)();
  bool removable = false;
  // The last digits depend on the order of Adds and Merges.
  bool rounds_in_order = false;
  // Makes one that can undo Adds, for more time and memory than the usual one takes; may be null.
  std::unique_ptr<Accumulator> (*make_removable)() = nullptr;
};

// Null if no aggregate has this name. COUNT(*) is "count_star".
const AggregateFunction* FindAggregate(std::string_view name);
// ROW_NUMBER, RANK, LAG, ...: only with OVER.
bool IsWindowFunction(std::string_view name);
// The names that a statement can use, sorted.
std::vector<std::string_view> AggregateNames();
std::vector<std::string_view> WindowFunctionNames();

}  // namespace sluice::query
