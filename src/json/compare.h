// The total order of values, as SQL++ collates them:
//
//   missing < null < false < true < number < datetime < interval < string < array < object < binary
//
// Numbers of all three kinds compare by their exact value; NaN is less than every other number and
// equal to itself; -0 equals 0. Strings and binary compare by bytes. Arrays compare element by
// element, then the shorter is less. An object with fewer fields is less. With equally many, the
// sorted names of both decide: at the first name that only one object has, that object is less; at
// the first name with different values, these values decide.
#pragma once

#include <compare>
#include <cstdint>

#include "json/value.h"

namespace sluice::json {

std::strong_ordering Compare(const Value& a, const Value& b);

// Compare(a, b) == 0, found sooner.
bool Equal(const Value& a, const Value& b);

// Equal values hash alike.
uint64_t HashValue(const Value& value);

// For ordered containers.
struct ValueLess {
  bool operator()(const Value& a, const Value& b) const { return Compare(a, b) < 0; }
};
struct ValueHash {
  uint64_t operator()(const Value& value) const { return HashValue(value); }
};

}  // namespace sluice::json
