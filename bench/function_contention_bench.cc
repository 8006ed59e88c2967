// Functions whose workers count in the same documents: how much two workers get done, compared with
// one. Their commits refuse each other, so that more than one worker's work is not to be had; much
// less would be lost to runs for nothing. 16 counters, documents of 1 KB, durable.
//
// Measured over a backlog, as in function_bench.cc.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/function_rig.h"

namespace sluice::bench {
namespace {

constexpr size_t kEvents = 10'000;
constexpr int kRounds = 3;

constexpr const char* kCode =
    "function OnUpdate(doc, meta) { const key = 'c' + doc.id % 16; const old = dst[key];"
    "  dst[key] = {n: old === undefined ? 1 : old.n + 1}; }";

void Bench(const std::string& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const std::vector<std::string> bodies = Bodies(kEvents);
  {
    FunctionRig one(directory + "/one");
    one.Deploy(kCode, "bench", 1);
    FunctionRig two(directory + "/two");
    two.Deploy(kCode, "bench", 2);
    std::vector<double> one_rates;
    std::vector<double> two_rates;
    std::vector<double> ratios;
    for (int round = 0; round <= kRounds; ++round) {
      const double alone = one.BacklogRate(bodies);
      const double together = two.BacklogRate(bodies);
      if (round == 0) continue;
      one_rates.push_back(alone);
      two_rates.push_back(together);
      ratios.push_back(together / alone);
    }
    Report("function, two workers on 16 counters",
           {Median(two_rates), Median(one_rates), Median(ratios)}, "events/s", "one worker", "0.6");
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace sluice::bench

int main() {
  sluice::bench::Bench((std::filesystem::current_path() / "build" / "bench-contention").string());
  return 0;
}
