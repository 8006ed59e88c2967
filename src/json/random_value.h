// Random values for property tests: few distinct ones, so that equal and nearly equal pairs are
// common.
#pragma once

#include "base/random.h"
#include "json/value.h"

namespace sluice::json {

Value RandomNumber(Random& random);
Value RandomValue(Random& random, int depth);

}  // namespace sluice::json
