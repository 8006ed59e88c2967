// Plays a trial: the same code that a server runs, without a server.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "function/definition.h"
#include "function/trial/problem.h"
#include "function/trial/trial.h"

namespace sluice::function::trial {

struct Report {
  Problems problems;             // none: it did what the file says
  Status refused;                // why the function could not be deployed, unless that is expected
  std::vector<std::string> log;  // of the function

  bool passed() const { return problems.empty() && refused.ok(); }
};

// An error is about the trial itself: no room for its database, say.
Result<Report> Run(const Trial& trial, const Definition& definition);

}  // namespace sluice::function::trial
