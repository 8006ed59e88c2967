// A test file of a function, and how it went: `sluice fn test` and the tests of this project.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "function/trial/run.h"

namespace sluice::server {

struct TrialOutcome {
  std::string about;
  // Why it could not be run: the file, or the function that it names. All of it, with places.
  std::vector<Status> unusable;
  function::trial::Report report;

  bool passed() const { return unusable.empty() && report.passed(); }
};

// Reads the file and the function that it names, and plays it.
TrialOutcome RunTrialFile(const std::string& file);

}  // namespace sluice::server
