// Words of SQL++.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice::cli {

// The keywords that the shell completes, in upper case and sorted.
std::span<const std::string_view> SqlKeywords();
std::span<const std::string_view> SqlFunctions();

// Words and names are compared in it.
std::string LowerCase(std::string_view text);

}  // namespace sluice::cli
