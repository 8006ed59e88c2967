// fn test.
#include <memory>

#include "cli/exit_code.h"
#include "server/commands.h"
#include "server/function_trial.h"

namespace sluice::server {
namespace {

using json::Value;

std::string ErrorText(const Status& status) {
  const Place& place = status.place();
  std::string text = place.file;
  if (place.line > 0) text += fmt::format(":{}:{}", place.line, place.column);
  if (!text.empty()) text += ": ";
  return fmt::format("{}{} ({})", text, status.message(), status.id());
}

// All problems of a test, each with its place.
function::trial::Problems ProblemsOf(const TrialOutcome& outcome) {
  function::trial::Problems problems;
  for (const Status& status : outcome.unusable) problems.push_back({"", ErrorText(status)});
  if (!outcome.report.refused.ok()) problems.push_back({"", ErrorText(outcome.report.refused)});
  for (const auto& problem : outcome.report.problems) problems.push_back(problem);
  return problems;
}

std::string_view ResultOf(const TrialOutcome& outcome) {
  if (!outcome.unusable.empty()) return "unusable";
  return outcome.passed() ? "passed" : "failed";
}

Value JsonOf(const std::string& file, const TrialOutcome& outcome) {
  Value problems = Value::EmptyArray();
  for (const auto& problem : ProblemsOf(outcome)) {
    problems.Append(Value::Object({{"where", problem.where}, {"message", problem.message}}));
  }
  Value log = Value::EmptyArray();
  for (const std::string& line : outcome.report.log) log.Append(line);
  return Value::Object({{"file", file},
                        {"about", outcome.about},
                        {"result", ResultOf(outcome)},
                        {"problems", problems},
                        {"log", log}});
}

// Lines after the first are moved in, too.
std::string Indented(std::string_view text) {
  std::string indented = "  ";
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += "    ";
  }
  return indented;
}

// A passed test has one line; for a failed one all problems and the function's log are printed.
void Print(const std::string& file, const TrialOutcome& outcome, cli::Output* output) {
  output->Line(fmt::format("{:<8}  {}", ResultOf(outcome), file));
  if (outcome.passed()) return;
  for (const auto& problem : ProblemsOf(outcome)) {
    const std::string where = problem.where.empty() ? "" : problem.where + ": ";
    output->Line(Indented(where + problem.message));
  }
  for (const std::string& line : outcome.report.log) output->Line(Indented("log: " + line));
}

Status Test(const std::vector<std::string>& files, cli::Context& context) {
  Value rows = Value::EmptyArray();
  size_t failed = 0;
  size_t unusable = 0;
  for (const std::string& file : files) {
    const TrialOutcome outcome = RunTrialFile(file);
    if (!outcome.passed()) ++(outcome.unusable.empty() ? failed : unusable);
    if (context.output.json()) {
      rows.Append(JsonOf(file, outcome));
    } else {
      Print(file, outcome, &context.output);
      context.output.Flush();
    }
  }
  if (context.output.json()) context.output.Rows(rows, {});
  if (unusable > 0) {
    return Error(Code::kInvalidArgument, cli::kTestUnusableId, "{} of {} tests can't be run",
                 unusable, files.size());
  }
  if (failed > 0) {
    return Error(Code::kInvalidArgument, cli::kTestFailedId, "{} of {} tests failed", failed,
                 files.size());
  }
  return OkStatus();
}

}  // namespace

void AddFnTestCommand(cli::Program* program) {
  const auto files = std::make_shared<std::vector<std::string>>();
  program
      ->AddCommand(program->app().get_subcommand("fn"), "test",
                   "Run functions against events from files, without a server",
                   [files](cli::Context& context) { return Test(*files, context); })
      ->add_option("file", *files, "JSON files with events and expected results")
      ->required();
}

}  // namespace sluice::server
