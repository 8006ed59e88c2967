// `autostart:` and `listeners:` in sluice.yaml: the flows and routes that start when the app is
// loaded, and those that are called when a run has ended.
//
//   autostart:
//     - 'flow://warm-up'                # a flow, or a route, without input
//     - flow: load-rates
//       input: {body: {from: '${RATES_URL}'}}
//     - route: cache.fill
//       input: {size: 100}
//   listeners: ['audit.run', 'flow://notify']
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "flow/problem.h"
#include "flow/settings.h"
#include "json/value.h"
#include "yaml/yaml.h"

namespace sluice::flow_engine {

struct Autostart {
  std::string target;  // a route, or `flow://id`
  json::Value input;   // of a flow the dataset, of a route the body

  // The flow's id; empty for a route.
  std::string flow() const;
};

struct AppOptions {
  std::vector<Autostart> autostart;
  std::vector<std::string> listeners;  // routes, or `flow://id`
};

// `has_target` tells whether there is such a route or `flow://id`. Errors route.invalid_options,
// route.unknown. `config` is all of sluice.yaml.
AppOptions ReadAppOptions(const yaml::Node& config, const std::string& file,
                          const flow::Settings& settings,
                          const std::function<bool(std::string_view target)>& has_target,
                          flow::Problems* problems);

}  // namespace sluice::flow_engine
