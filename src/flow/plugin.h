// `f:` functions of data mappings: `f:add(model.n, int(1))`. They compute, they do not act.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "flow/expression.h"
#include "json/value.h"

namespace sluice::flow {

// The compiled form of constant arguments, made when a flow is compiled: a date pattern, a rule.
struct Prepared {
  virtual ~Prepared() = default;
};

struct PluginInput {
  std::span<const json::Value> args;
  const Prepared* prepared = nullptr;
  uint64_t now_ms = 0;
};

struct Plugin {
  using Run = Result<json::Value> (*)(const PluginInput& input);
  using Prepare = Result<std::shared_ptr<const Prepared>> (*)(std::span<const Expression> args);

  std::string_view name;
  size_t least = 0;  // arguments
  size_t most = 0;
  Run run = nullptr;
  Prepare prepare = nullptr;  // if any
};

struct PluginCall {
  const Plugin* plugin = nullptr;
  std::vector<Expression> args;
  std::shared_ptr<const Prepared> prepared;
};

inline constexpr size_t kManyArguments = 64;

// nullptr if no function has this name.
const Plugin* FindPlugin(std::string_view name);
std::vector<std::string> PluginNames();

// Families, one file each.
std::span<const Plugin> NumberPlugins();
std::span<const Plugin> LogicPlugins();
std::span<const Plugin> TextPlugins();
std::span<const Plugin> ListPlugins();
std::span<const Plugin> ShapePlugins();
std::span<const Plugin> DatePlugins();
std::span<const Plugin> ValidatePlugins();

// For their errors: a call that aborts the flow with status 400.
std::unexpected<Status> BadArgument(std::string_view function, std::string_view why);

}  // namespace sluice::flow
