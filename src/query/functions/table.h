// What tables need of functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::query {

// The typed value of a stored one: (stored, number of the ColumnType, what a row without it has).
// No statement can write this name.
inline constexpr std::string_view kColumnValueFunction = "column value";

// What a column of datetimes is compared with: (value, number of the ColumnType). A text that would
// be one in the column is one here; an array has several.
inline constexpr std::string_view kComparedValueFunction = "compared value";

// What an index of such a column has for a value that the column is compared with: (value, number
// of the ColumnType, number of the StoredValueUse). Of a value that a column can't have as such,
// what finds nothing that is equal, and everything otherwise: the condition itself decides.
inline constexpr std::string_view kStoredValueFunction = "stored value";
enum class StoredValueUse : uint8_t { kEqual, kAnyOf, kLow, kHigh };

}  // namespace sluice::query
