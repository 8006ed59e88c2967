// Steps into values: a.b, a[i], a[s:e], a[*].
#pragma once

#include "json/value.h"
#include "query/functions/function.h"

namespace sluice::query {

// a.[name]: MISSING when `object` is none or has no such field, NULL when it is NULL or the name is
// no string.
Value FieldOf(const Value& object, const Value& name);

// a[i]: from the end when negative; MISSING beyond either end and when `array` is none, NULL when
// it is NULL or the index is no whole number.
Value ElementOf(const Value& array, const Value& index);

// a[s:e]: without its end, and either may be left out (null pointers). Negative positions count
// from the end. MISSING when a position is outside, also for a[s:] with s at the end; NULL when
// `array` is none or a position is no whole number.
Value SliceOf(const Value& array, const Value* start, const Value* end);

// a[*]: an object with an array for every field name of the elements, in which an element without
// that field is MISSING. Null when the statement's memory does not allow it.
Value ArrayStarOf(FunctionContext& context, const Value& array);

}  // namespace sluice::query
