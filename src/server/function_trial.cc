#include "server/function_trial.h"

#include <filesystem>

#include "base/file.h"
#include "cli/function_spec.h"
#include "function/definition.h"
#include "json/parse.h"

namespace sluice::server {
namespace {

namespace trial = function::trial;

Result<trial::Trial> ReadTrial(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, json::kMaxDocumentBytes));
  Result<trial::Trial> parsed = trial::ParseTrial(text);
  if (parsed) return parsed;
  const Place& place = parsed.error().place();
  return Unexpected(parsed.error().At({file, place.line, place.column}));
}

}  // namespace

TrialOutcome RunTrialFile(const std::string& file) {
  TrialOutcome outcome;
  const auto unusable = [&](const Status& why) {
    outcome.unusable.push_back(why);
    return outcome;
  };
  const Result<trial::Trial> trial = ReadTrial(file);
  if (!trial) return unusable(trial.error());
  outcome.about = trial->about;
  const auto script = std::filesystem::path(file).parent_path() / trial->function;
  const cli::FunctionSpec spec = cli::ReadFunction(script.lexically_normal(), &outcome.unusable);
  if (!outcome.unusable.empty()) return outcome;
  const Result<function::Definition> definition = function::ParseDefinition(spec.definition);
  if (!definition) return unusable(cli::Located(definition.error(), spec));
  Result<trial::Report> report = trial::Run(*trial, *definition);
  if (!report) return unusable(report.error());
  outcome.report = std::move(*report);
  outcome.report.refused = cli::Located(outcome.report.refused, spec);
  return outcome;
}

}  // namespace sluice::server
