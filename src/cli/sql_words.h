// The words of SQL++ that the shell completes, in upper case and sorted.
#pragma once

#include <span>
#include <string_view>

namespace sluice::cli {

std::span<const std::string_view> SqlKeywords();
std::span<const std::string_view> SqlFunctions();

}  // namespace sluice::cli
