// The segments of a path; empty ones do not count.
#pragma once

#include <string_view>
#include <vector>

namespace sluice::flow_engine {

inline std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (slash != 0) parts.push_back(path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

}  // namespace sluice::flow_engine
