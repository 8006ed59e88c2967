// Texts of flows to plans. All problems of all files are found at once; a flow with an error is
// left out as a whole, and so is one that calls it.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "flow/files.h"
#include "flow/plan.h"
#include "flow/problem.h"
#include "flow/settings.h"

namespace sluice::flow {

inline constexpr size_t kMaxFlows = 10'000;
inline constexpr size_t kMaxTasks = 1000;     // of a flow
inline constexpr size_t kMaxMappings = 1000;  // of a task, each way
inline constexpr uint64_t kMaxTtlMs = 365ull * 86'400'000;

struct FlowText {
  std::string file;  // for messages
  std::string text;
};

struct CompileOptions {
  const Settings* settings = nullptr;  // required
  const Files* files = nullptr;        // nullptr: paths of files are not checked
  // Whether there is a function of this route; empty: routes are not checked.
  std::function<bool(std::string_view route)> has_route;
  std::vector<std::string> routes;  // those there are, to suggest one
};

// The good ones of the flows. Everything that is wrong goes to `problems`.
// `refused` gets the ids of the others, as far as they have one.
std::shared_ptr<const FlowSet> CompileFlows(const std::vector<FlowText>& texts,
                                            const CompileOptions& options, Problems* problems,
                                            std::set<std::string, std::less<>>* refused = nullptr);

}  // namespace sluice::flow
