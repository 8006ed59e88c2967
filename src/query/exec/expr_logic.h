// Expressions that decide: AND, OR, NOT, comparisons, CASE.
#pragma once

#include <vector>

#include "query/exec/expr.h"

namespace sluice::query {

ExprPtr MakeAnd(std::vector<ExprPtr> operands);
ExprPtr MakeOr(std::vector<ExprPtr> operands);
ExprPtr MakeNot(ExprPtr operand);

enum class Comparison : uint8_t { kEqual, kLess, kLessEqual };
ExprPtr MakeComparison(Comparison comparison, ExprPtr left, ExprPtr right);
// x IN [constants], by hash. `list` is an array.
ExprPtr MakeInConstants(ExprPtr operand, const Value& list);

// when, then, when, then ..., and an ELSE or null.
ExprPtr MakeSearchedCase(std::vector<ExprPtr> arms, ExprPtr otherwise);
ExprPtr MakeSimpleCase(ExprPtr operand, std::vector<ExprPtr> arms, ExprPtr otherwise);

}  // namespace sluice::query
