// Arithmetic with datetimes and intervals, as columns of tables have them.
#pragma once

#include "json/value.h"

namespace sluice::query {

inline bool IsTemporal(const json::Value& value) {
  return value.is_datetime() || value.is_interval();
}

// Datetime and interval, two intervals of one kind. A number stands for seconds, or for months
// beside an interval of months. NULL for everything else and past the limits.
json::Value AddTemporal(const json::Value& a, const json::Value& b);
// Also two datetimes: the interval between them.
json::Value SubtractTemporal(const json::Value& a, const json::Value& b);
// An interval times a number.
json::Value MultiplyTemporal(const json::Value& a, const json::Value& b);
// An interval divided by a number.
json::Value DivideTemporal(const json::Value& a, const json::Value& b);

}  // namespace sluice::query
