// Plays a trial by the same code that a server runs, without a server.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "function/definition.h"
#include "function/trial/problem.h"
#include "function/trial/trial.h"

namespace sluice::function::trial {

struct Report {
  Problems problems;             // empty: all expectations of the file are met
  Status refused;                // why the deployment failed, unless the file expects that
  std::vector<std::string> log;  // of the function

  bool passed() const { return problems.empty() && refused.ok(); }
};

// An error is about the trial itself, for example no room for its database.
Result<Report> Run(const Trial& trial, const Definition& definition);

}  // namespace sluice::function::trial
