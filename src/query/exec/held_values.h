// Counts the memory of values that an expression holds while it makes more, such as the elements of
// an array. Released at the end: the owner of the finished value counts it then.
#pragma once

#include <cstddef>
#include <utility>

#include "query/exec/context.h"
#include "query/exec/expr.h"
#include "query/value_size.h"

namespace sluice::query {

class HeldValues {
 public:
  explicit HeldValues(Context& context) : context_(context) {}
  HeldValues(const HeldValues&) = delete;
  HeldValues& operator=(const HeldValues&) = delete;
  ~HeldValues() {
    if (charged_ > 0) context_.Release(charged_);
  }

  // Each false when the run has failed, perhaps because there is no more memory.
  bool Add(const Value& value) { return AddBytes(sizeof(Value) + HeldBytes(value)); }
  bool AddBytes(size_t bytes) {
    pending_ += bytes;
    return pending_ < kBatch ? !context_.failed() : Charge();
  }

 private:
  // Threads share the budget: small values do not touch it.
  static constexpr size_t kBatch = 4096;

  bool Charge() {
    charged_ += pending_;
    const size_t bytes = pending_;
    pending_ = 0;
    return context_.Charge(bytes);
  }

  Context& context_;
  size_t pending_ = 0;
  size_t charged_ = 0;
};

// Memory of the values that an operator's present row has, and that live nowhere else.
class RowCharge {
 public:
  void Set(Context& context, size_t bytes) {
    if (bytes > charged_) {
      context.Charge(bytes - charged_);
    } else if (bytes < charged_) {
      context.Release(charged_ - bytes);
    }
    charged_ = bytes;
  }

 private:
  size_t charged_ = 0;
};

// Sets a slot; returns the bytes of the value if the expression made it.
inline size_t Assign(Context& context, const Expr& expr, Value& slot) {
  Value made;
  const Value& value = expr.Eval(context, made);
  if (&value != &made) {
    slot = value;
    return 0;
  }
  slot = std::move(made);
  return HeldBytes(slot);
}

}  // namespace sluice::query
