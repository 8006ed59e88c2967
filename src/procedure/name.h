// Names of procedures, triggers and consumers.
#pragma once

#include <algorithm>
#include <string_view>

namespace sluice::procedure {

// One to `most` letters of English, digits and _.
inline bool IsValidName(std::string_view name, size_t most) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= most && std::ranges::all_of(name, allowed);
}

}  // namespace sluice::procedure
