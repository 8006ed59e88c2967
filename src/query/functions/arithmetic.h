// Arithmetic on numbers of all kinds, for operators, functions and aggregates.
//
// Integers stay integers until they would overflow, then the result is a double. Decimals stay
// exact among themselves and with integers while the result fits into a Decimal. A MISSING operand
// gives MISSING, anything else that is no number NULL.
#pragma once

#include <cstdint>
#include <optional>

#include "json/value.h"

namespace sluice::query {

using json::Value;

Value Add(const Value& a, const Value& b);
Value Subtract(const Value& a, const Value& b);
Value Multiply(const Value& a, const Value& b);
Value Negate(const Value& a);

// The int64 that `value` is exactly, 3 as well as 3.0; nullopt for anything else. (WholeNumber of
// arguments.h takes the nearest int64 if a whole number does not fit.)
std::optional<int64_t> WholeNumber(const Value& value);
// The same for a double.
std::optional<int64_t> WholeNumber(double value);
// A double as the result of a function: an integer when it is whole and fits.
Value NumberOf(double value);

}  // namespace sluice::query
