#include "flow/plugin.h"

#include <map>

namespace sluice::flow {
namespace {

const std::map<std::string_view, const Plugin*>& Registry() {
  static const auto* const registry = [] {
    auto* made = new std::map<std::string_view, const Plugin*>;
    for (const auto family : {NumberPlugins(), LogicPlugins(), TextPlugins(), ListPlugins(),
                              ShapePlugins(), DatePlugins(), ValidatePlugins()}) {
      for (const Plugin& plugin : family) made->emplace(plugin.name, &plugin);
    }
    return made;
  }();
  return *registry;
}

}  // namespace

const Plugin* FindPlugin(std::string_view name) {
  const auto found = Registry().find(name);
  return found == Registry().end() ? nullptr : found->second;
}

std::vector<std::string> PluginNames() {
  std::vector<std::string> names;
  for (const auto& [name, plugin] : Registry()) names.emplace_back(name);
  return names;
}

std::unexpected<Status> BadArgument(std::string_view function, std::string_view why) {
  return Fail(Code::kInvalidArgument, "flow.bad_argument", "f:{} - {}", function, why);
}

}  // namespace sluice::flow
