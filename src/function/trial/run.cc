#include "function/trial/run.h"

#include <algorithm>

#include "function/trial/path.h"
#include "function/trial/stage.h"

namespace sluice::function::trial {
namespace {

using json::Value;

void CompareTimers(const Value& expected, const Value& got, const std::string& where,
                   Problems* problems) {
  Value shown = Value::EmptyArray();  // only the members that the file has
  for (size_t i = 0; i < got.size(); ++i) {
    if (i >= expected.size()) {
      shown.Append(got[i]);
      continue;
    }
    Value timer = Value::EmptyObject();
    for (const json::Field& field : expected[i].fields())
      timer.Set(field.name(), got[i][field.name()]);
    shown.Append(std::move(timer));
  }
  Value wanted = Value::EmptyArray();  // with moments as they are printed
  for (Value timer : expected.items()) {
    if (const auto due_ms = MomentOf(timer["due"])) timer.Set("due", PrintMoment(*due_ms));
    wanted.Append(std::move(timer));
  }
  Compare(wanted, shown, where, problems);
}

Status Check(const Stage& stage, const Expectations& expect, Problems* problems) {
  ASSIGN_OR_RETURN(const std::vector<std::string> log, stage.Log());
  if (expect.failures.is_array() || expect.last) {
    ASSIGN_OR_RETURN(const std::vector<std::string> failures, stage.Failures());
    CompareLines(expect.failures, failures, Below(expect.where, "failures"), problems);
  }
  for (size_t i = 0; i < expect.keyspaces.size(); ++i) {
    const json::Field& expected = expect.documents.fields()[i];
    ASSIGN_OR_RETURN(const Value got, stage.Documents(expect.keyspaces[i]));
    Compare(expected.value, got, Below(Below(expect.where, "documents"), expected.name()),
            problems);
  }
  if (expect.log.is_array()) CompareLines(expect.log, log, Below(expect.where, "log"), problems);
  if (expect.timers.is_array()) {
    ASSIGN_OR_RETURN(const Value timers, stage.Timers());
    CompareTimers(expect.timers, timers, Below(expect.where, "timers"), problems);
  }
  if (expect.statistics.is_object()) {
    ASSIGN_OR_RETURN(const Value statistics, stage.Statistics());
    for (const json::Field& group : expect.statistics.fields()) {
      const std::string where = Below(Below(expect.where, "statistics"), group.name());
      for (const json::Field& count : group.value.fields()) {
        Compare(count.value, statistics[group.name()][count.name()], Below(where, count.name()),
                problems);
      }
    }
  }
  return OkStatus();
}

// Whether deploying went as expected; the rest of the trial is played when it is deployed.
void CheckDeployed(const Expectations& expect, const Status& deployed, Report* report) {
  if (!expect.refused) {
    report->refused = deployed;
    return;
  }
  const std::string got = deployed.ok() ? "it was deployed" : "got: " + deployed.ToString();
  if (deployed.ok() || deployed.ToString().find(*expect.refused) == std::string::npos) {
    report->problems.push_back(
        {Below(expect.where, "refused"),
         fmt::format("expected an error with {}, {}", Short(Value(*expect.refused)), got)});
  }
}

}  // namespace

Result<Report> Run(const Trial& trial, const Definition& definition) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Stage> stage, Stage::Set(trial, definition));
  Report report;
  const Status deployed = stage->Deploy(definition);
  CheckDeployed(trial.expect, deployed, &report);
  if (!deployed.ok()) return report;
  for (size_t i = 0; i < trial.steps.size(); ++i) {
    const Status done = std::visit(
        [&](const auto& step) -> Status {
          if constexpr (std::is_same_v<std::decay_t<decltype(step)>, Expectations>) {
            return Check(*stage, step, &report.problems);
          } else {
            return stage->Do(step);
          }
        },
        trial.steps[i]);
    if (!done.ok()) {
      report.problems.push_back({Below("steps", i), done.message()});
      break;
    }
  }
  RETURN_IF_ERROR(Check(*stage, trial.expect, &report.problems));
  for (const Problems& http : {stage->http().Unexpected(), stage->http().NotMade()}) {
    report.problems.insert(report.problems.end(), http.begin(), http.end());
  }
  ASSIGN_OR_RETURN(report.log, stage->Log());
  return report;
}

}  // namespace sluice::function::trial
