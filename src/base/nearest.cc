#include "base/nearest.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace sluice {
namespace {

// Longer names are compared by their beginnings: the cost is the product of the lengths.
constexpr size_t kMostCompared = 64;

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMostCompared);
  b = b.substr(0, kMostCompared);
  // row[j]: distance of a's first i characters to b's first j; the two rows before are kept.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string NearestName(std::string_view name, std::span<const std::string> candidates) {
  // A third of the name may be wrong, but not all of it.
  size_t best = std::max<size_t>(1, std::min(name.size(), kMostCompared) / 3) + 1;
  std::string_view nearest;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < best && distance < std::max(name.size(), candidate.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return std::string(nearest);
}

std::string DidYouMean(std::string_view name, std::span<const std::string> candidates) {
  const std::string nearest = NearestName(name, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace sluice
