// "Did you mean ...?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice {

// How many single-character edits (insert, delete, replace, swap of neighbours) turn a into b.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate that was probably meant by `name`; empty when none is near.
std::string NearestName(std::string_view name, std::span<const std::string> candidates);

// "; did you mean 'x'?" or nothing, to end a message with.
std::string DidYouMean(std::string_view name, std::span<const std::string> candidates);

}  // namespace sluice
