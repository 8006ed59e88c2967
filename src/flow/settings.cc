#include "flow/settings.h"

#include <algorithm>

namespace sluice::flow {

std::optional<std::string> FixedSettings::Environment(std::string_view name) const {
  const auto found = environment_.find(name);
  if (found == environment_.end()) return std::nullopt;
  return found->second;
}

json::Value ValueAt(const json::Value& config, std::string_view key) {
  if (const json::Value* whole = config.Find(key)) return *whole;
  for (size_t dot = key.find('.'); dot != key.npos; dot = key.find('.', dot + 1)) {
    const json::Value* below = config.Find(key.substr(0, dot));
    if (below == nullptr) continue;
    if (json::Value found = ValueAt(*below, key.substr(dot + 1)); !found.is_missing()) return found;
  }
  return {};
}

json::Value FixedSettings::Lookup(std::string_view key) const { return ValueAt(config_, key); }

}  // namespace sluice::flow
