// An expression that can be evaluated. Immutable once compiled, so plans are shared between runs
// and threads; all state is in the context.
#pragma once

#include <memory>
#include <vector>

#include "json/value.h"
#include "query/exec/context.h"

namespace sluice::query {

class Expr {
 public:
  virtual ~Expr() = default;

  // The value for the present row: either one that lives elsewhere (a slot, a constant) and stays
  // until the row changes, or `scratch`, which was set.
  virtual const Value& Eval(Context& context, Value& scratch) const = 0;

  Value Get(Context& context) const {
    Value scratch;
    const Value& value = Eval(context, scratch);
    if (&value == &scratch) return scratch;
    return value;
  }
  // Whether the value counts as true in WHERE and the like.
  bool IsTrue(Context& context) const;
  // The value when it is the same in every run; else null.
  virtual const Value* constant() const { return nullptr; }
};

using ExprPtr = std::unique_ptr<const Expr>;

}  // namespace sluice::query
