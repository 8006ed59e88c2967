#include "flow/problem.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sluice::flow {

std::string Problem::ToString() const {
  const Place& place = status.place();
  std::string out = place.file;
  if (place.line > 0) out += fmt::format(":{}:{}", place.line, place.column);
  if (!out.empty()) out += ": ";
  out += severity == Severity::kError ? "error: " : "warning: ";
  out += fmt::format("{} [{}]", status.message(), status.id());
  return out;
}

void Problems::Add(Problem::Severity severity, Status status) {
  if (problems_.size() < kMost) problems_.push_back({severity, std::move(status)});
}

void Problems::AddError(Status status) {
  ++errors_;
  Add(Problem::Severity::kError, std::move(status));
}

void Problems::AddWarning(Status status) {
  ++warnings_;
  Add(Problem::Severity::kWarning, std::move(status));
}

std::vector<Problem> Problems::Sorted() const {
  std::vector<Problem> sorted = problems_;
  const auto key = [](const Problem& problem) {
    const Place& place = problem.status.place();
    return std::tie(place.file, place.line, place.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Problem& a, const Problem& b) { return key(a) < key(b); });
  return sorted;
}

}  // namespace sluice::flow
