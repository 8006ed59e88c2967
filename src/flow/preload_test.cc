#include "flow/preload.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::flow {
namespace {

// As "original -> routes, instances, kept".
std::string Shown(const std::vector<FlowText>& texts, std::string* problems_shown) {
  const FixedSettings settings({{"N", "30"}}, {});
  Problems problems;
  std::string out;
  for (const Preload& preload : ReadPreloads(texts, settings, &problems)) {
    out += preload.original + " ->";
    for (const std::string& route : preload.routes) out += " " + route;
    out += preload.instances ? fmt::format(", {}", *preload.instances) : "";
    out += preload.keep_original ? ", kept\n" : "\n";
  }
  for (const Problem& problem : problems.Sorted()) *problems_shown += problem.ToString() + "\n";
  return out;
}

TEST(Preload, MergesFilesAndKeepsTheFirstInstances) {
  std::string problems;
  EXPECT_EQ(Shown({{"a.yaml",
                    "preload:\n  - original: 'greeting.demo'\n    routes:\n      - "
                    "'greeting.case.1'\n      - 'greeting.case.2'\n    instances: 20\n"},
                   {"b.yaml",
                    "preload:\n  - original: greeting.demo\n    routes: [greeting.case.2, "
                    "greeting.case.3]\n    instances: 40\n  - original: v1.other\n    "
                    "keep-original: true\n    instances: ${N:5}\n    routes: [v1.reusable.1]\n"}},
                  &problems),
            "greeting.demo -> greeting.case.1 greeting.case.2 greeting.case.3, 20\n"
            "v1.other -> v1.reusable.1, 30, kept\n");
  EXPECT_EQ(problems, "");
}

TEST(Preload, LeavesOutAFileWithAMistake) {
  std::string problems;
  EXPECT_EQ(Shown({{"a.yaml", "preload:\n  - original: x\n    routes: [y]\n  - routes: [z]\n"},
                   {"b.yaml", "preload:\n  - original: q\n    routes: [r]\n    instances: many\n"}},
                  &problems),
            "");
  EXPECT_EQ(problems,
            "a.yaml:4:5: error: 'original' and a list of 'routes' are expected [preload.invalid]\n"
            "b.yaml:4:16: error: 'instances' must be a number from 1 to 1000 [preload.invalid]\n");
}

}  // namespace
}  // namespace sluice::flow
