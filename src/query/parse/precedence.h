// The precedence of operators, loosest first, for the parser and the printer.
#pragma once

#include <cstdint>

namespace sluice::query {

enum class Precedence : uint8_t {
  kNone,
  kOr,
  kAnd,
  kNot,
  kEquality,    // = == != <>   not chained, like all down to kIn
  kComparison,  // < <= > >=
  kLike,
  kBetween,
  kIn,  // IN, WITHIN
  kExists,
  kIs,
  kConcat,
  kSum,
  kProduct,  // * / % ^
  kMinus,    // before its operand
  kPostfix,  // . [ ]
};

constexpr Precedence Tighter(Precedence level) {
  return static_cast<Precedence>(static_cast<uint8_t>(level) + 1);
}

}  // namespace sluice::query
