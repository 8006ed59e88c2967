// What tables need of functions.
#pragma once

#include <string_view>

namespace sluice::query {

// The typed value of a stored one: (stored, number of the ColumnType, what a row without it has).
// No statement can write this name.
inline constexpr std::string_view kColumnValueFunction = "column value";

}  // namespace sluice::query
