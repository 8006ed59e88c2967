// Internal functions for tables.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::query {

// The typed value of a stored one: (stored, number of the ColumnType, value of a row that lacks the
// column). A statement can't call it by this name.
inline constexpr std::string_view kColumnValueFunction = "column value";

// Converts a value that a datetime column is compared with: (value, number of the ColumnType). A
// text that the column would take becomes a datetime; in an array, each element does.
inline constexpr std::string_view kComparedValueFunction = "compared value";

// The index key for a value that such a column is compared with: (value, number of the ColumnType,
// number of the StoredValueUse). For a value that the column can't have, a key that equals no
// entry, and that bounds a range to everything: then the condition itself decides.
inline constexpr std::string_view kStoredValueFunction = "stored value";
enum class StoredValueUse : uint8_t { kEqual, kAnyOf, kLow, kHigh };

}  // namespace sluice::query
