// Arithmetic of decimals, to 34 digits, halves rounded away from zero.
#pragma once

#include <optional>

#include "json/decimal.h"

namespace sluice::lua {

using json::Decimal;

// Nothing when the result is out of range, or for a division by zero.
std::optional<Decimal> Add(const Decimal& a, const Decimal& b);
std::optional<Decimal> Subtract(const Decimal& a, const Decimal& b);
std::optional<Decimal> Multiply(const Decimal& a, const Decimal& b);
std::optional<Decimal> Divide(const Decimal& a, const Decimal& b);
Decimal Negate(Decimal a);

}  // namespace sluice::lua
