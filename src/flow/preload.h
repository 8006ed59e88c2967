// Preload overrides: other routes and other numbers of instances for functions of a library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "flow/compile.h"
#include "flow/problem.h"
#include "flow/settings.h"

namespace sluice::flow {

inline constexpr int64_t kMaxInstances = 1000;

struct Preload {
  std::string original;             // the route that the function has by itself
  std::vector<std::string> routes;  // those that it gets
  std::optional<int64_t> instances;
  bool keep_original = false;
  Place place;
};

// Merges several files: routes of the same original are united, and the first `instances` counts.
// A file with a mistake is left out as a whole, with errors preload.invalid.
std::vector<Preload> ReadPreloads(const std::vector<FlowText>& texts, const Settings& settings,
                                  Problems* problems);

}  // namespace sluice::flow
