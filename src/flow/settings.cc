#include "flow/settings.h"

#include <algorithm>

namespace sluice::flow {

std::optional<std::string> FixedSettings::Environment(std::string_view name) const {
  const auto found = environment_.find(name);
  if (found == environment_.end()) return std::nullopt;
  return found->second;
}

json::Value FixedSettings::Lookup(std::string_view key) const {
  json::Value at = config_;
  while (true) {
    if (const json::Value* whole = at.Find(key)) return *whole;
    const size_t dot = key.find('.');
    if (dot == std::string_view::npos) return {};
    json::Value below = at[key.substr(0, dot)];
    at = std::move(below);
    key.remove_prefix(dot + 1);
  }
}

}  // namespace sluice::flow
