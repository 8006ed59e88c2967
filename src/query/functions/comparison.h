// How SQL++ compares: with NULL and MISSING as answers. The order without them, which sorting and
// grouping use, is json/compare.h.
#pragma once

#include "json/value.h"

namespace sluice::query {

using json::Value;

// true, false, NULL or MISSING. Values of different types are unequal. Arrays and objects of the
// same shape whose known parts are equal but that hold a NULL (or MISSING) are neither equal nor
// unequal: NULL (or MISSING). NaN equals nothing.
Value CompareEq(const Value& a, const Value& b);

// Types are ordered among each other, so 1 < "a" is true. Inside arrays and objects the first
// difference decides, and a NULL met before it makes the answer NULL.
Value CompareLess(const Value& a, const Value& b);
Value CompareLessEqual(const Value& a, const Value& b);

// Whether the array holds an equal element. No array: NULL. No match, but a NULL on either side of
// one of the comparisons: NULL.
Value In(const Value& value, const Value& array);
// The same over everything that is inside the array or object, however deep.
Value Within(const Value& value, const Value& container);

// The truth of a value for WHERE, ON, HAVING and WHEN: false, NULL, MISSING, 0, NaN, "", [] and {}
// are false, all others true.
bool Truth(const Value& value);
// NULL and MISSING stay, others are true or false.
Value Not(const Value& value);

}  // namespace sluice::query
