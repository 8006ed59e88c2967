// `tasks:` in sluice.yaml: the settings of routes.
//
//   tasks:
//     greeting.demo:
//       instances: 10              # or "${GREETING_INSTANCES:10}"
//       routes: [greeting.other]   # further names of the same function
//       queue: 100                 # calls that may wait for an instance
//       private: true              # not for rest.yaml
//       keyspaces:                 # its variables, and all that its statements may use
//         users: app.people.users            # to read and write
//         prices: {keyspace: shop, access: r}
//     payment.api:                 # no file, but an HTTP endpoint
//       url: 'https://pay.example.com/charges/{id}'
//       method: PUT
//       headers: {x-key: '${PAY_KEY}'}
//       timeout: 5s
//     order.state:                 # an external state machine in a keyspace
//       state: app.flows.state
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "flow/problem.h"
#include "flow/settings.h"
#include "flow_engine/http_task.h"
#include "flow_engine/route.h"
#include "function/definition.h"
#include "yaml/yaml.h"

namespace sluice::flow_engine {

struct TaskOptions {
  RouteLimits limits;
  std::vector<std::string> routes;
  std::vector<function::BucketBinding> keyspaces;
  std::optional<HttpTarget> http;
  std::optional<db::KeyspaceName> state;
  Place place;
};

// Small letters, digits, `.`, `_` and `-`.
bool IsRouteName(std::string_view name);

// Errors route.invalid_options. `config` is all of sluice.yaml.
std::map<std::string, TaskOptions> ReadTaskOptions(const yaml::Node& config,
                                                   const std::string& file,
                                                   const flow::Settings& settings,
                                                   flow::Problems* problems);

}  // namespace sluice::flow_engine
