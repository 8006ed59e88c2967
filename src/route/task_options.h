// `tasks:` in sluice.yaml: what is said of routes besides their code.
//
//   tasks:
//     greeting.demo:
//       instances: 10              # or "${GREETING_INSTANCES:10}"
//       routes: [greeting.other]   # further names of the same function
//       keyspaces:
//         users: app.people.users            # to read and write
//         prices: {keyspace: shop, access: r}
#pragma once

#include <map>
#include <string>
#include <vector>

#include "flow/problem.h"
#include "flow/settings.h"
#include "function/definition.h"
#include "yaml/yaml.h"

namespace sluice::route {

struct TaskOptions {
  int instances = 1;
  std::vector<std::string> routes;
  std::vector<function::BucketBinding> keyspaces;
  Place place;
};

// Small letters, digits, `.`, `_` and `-`.
bool IsRouteName(std::string_view name);

// Errors route.invalid_options. `config` is all of sluice.yaml.
std::map<std::string, TaskOptions> ReadTaskOptions(const yaml::Node& config,
                                                   const std::string& file,
                                                   const flow::Settings& settings,
                                                   flow::Problems* problems);

}  // namespace sluice::route
