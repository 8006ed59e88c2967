// A case of `sluice flow test`: a directory with a case.yaml, and how it went.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/app_directory.h"
#include "function/trial/problem.h"

namespace sluice::server {

struct FlowRunOutcome {
  std::string name;
  function::trial::Problems problems;
  std::vector<std::string> log;  // of the run
};

struct FlowCaseOutcome {
  std::string about;
  // The reasons why the case can't run, in the file, the app, or the files that it names, with
  // places.
  std::vector<Status> unusable;
  std::vector<FlowRunOutcome> runs;

  bool passed() const;
};

// `directories` are those that file() of the flows may use.
FlowCaseOutcome RunFlowCase(const cli::AppDirectory& app, const std::string& case_directory,
                            const std::vector<std::string>& directories);

}  // namespace sluice::server
