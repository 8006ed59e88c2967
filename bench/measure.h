// What the benchmark programs share: alternating measurement of ours and a yardstick, and the JSON
// line that bench/run collects.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace sluice::bench {

inline double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Calls `step`, which does some operations and returns how many, for about `seconds`.
inline double Rate(double seconds, const std::function<size_t()>& step) {
  const double start = Seconds();
  size_t operations = 0;
  double now = start;
  do {
    operations += step();
    now = Seconds();
  } while (now - start < seconds);
  return static_cast<double>(operations) / (now - start);
}

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline double Percentile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(static_cast<double>(values.size() - 1) * part)];
}

struct Comparison {
  double ours = 0;
  double yardstick = 0;
  double ratio = 0;
};

// Measures both in turn, several times, and takes medians: a neighbour's load hits both alike.
inline Comparison Compare(double seconds, const std::function<size_t()>& ours,
                          const std::function<size_t()>& yardstick, int rounds = 5) {
  std::vector<double> our_rates;
  std::vector<double> yardstick_rates;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    yardstick_rates.push_back(Rate(seconds, yardstick));
    our_rates.push_back(Rate(seconds, ours));
    ratios.push_back(our_rates.back() / yardstick_rates.back());
  }
  return {Median(our_rates), Median(yardstick_rates), Median(ratios)};
}

// `goal` is the least ratio, or empty.
inline void Report(const std::string& name, const Comparison& result, const std::string& unit,
                   const std::string& yardstick, const std::string& goal) {
  std::printf(
      "{\"name\": \"%s\", \"value\": %.0f, \"unit\": \"%s\", \"yardstick\": \"%s: %.0f\", "
      "\"ratio\": %.3f, \"goal\": %s}\n",
      name.c_str(), result.ours, unit.c_str(), yardstick.c_str(), result.yardstick, result.ratio,
      goal.empty() ? "null" : goal.c_str());
  std::fflush(stdout);
}

// A figure of its own; `goal` is such as <= 50, or empty.
inline void ReportValue(const std::string& name, double value, const std::string& unit,
                        const std::string& goal = "") {
  std::printf(
      "{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\", \"yardstick\": null, "
      "\"ratio\": null, \"goal\": %s}\n",
      name.c_str(), value, unit.c_str(), goal.empty() ? "null" : ("\"" + goal + "\"").c_str());
  std::fflush(stdout);
}

}  // namespace sluice::bench
