// flow test.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/exit_code.h"
#include "server/commands.h"
#include "server/flow_trial.h"

namespace sluice::server {
namespace {

namespace fs = std::filesystem;
using json::Value;

struct FlowTestOptions {
  std::string directory;
  std::vector<std::string> cases;
  std::vector<std::string> files;
};

std::string_view ResultOf(const FlowRunOutcome& run) {
  return run.problems.empty() ? "passed" : "failed";
}

std::string Shown(const function::trial::Problem& problem) {
  return problem.where.empty() ? problem.message : problem.where + ": " + problem.message;
}

void Print(const std::string& name, const FlowCaseOutcome& outcome, cli::Output* output) {
  for (const FlowRunOutcome& run : outcome.runs) {
    output->Line(fmt::format("{:<8}  {}: {}", ResultOf(run), name, run.name));
    if (run.problems.empty()) continue;
    for (const auto& problem : run.problems) output->Line("  " + Shown(problem));
    for (const std::string& line : run.log) output->Line("  log: " + line);
  }
  if (outcome.unusable.empty()) return;
  output->Line(fmt::format("{:<8}  {}", "unusable", name));
  for (const Status& status : outcome.unusable) output->Line("  " + status.ToString());
}

void AddRows(const std::string& name, const FlowCaseOutcome& outcome, Value* rows) {
  const auto add = [&](const std::string& run, std::string_view result, Value problems) {
    rows->Append(Value::Object(
        {{"case", name}, {"run", run}, {"result", result}, {"problems", std::move(problems)}}));
  };
  for (const FlowRunOutcome& run : outcome.runs) {
    Value problems = Value::EmptyArray();
    for (const auto& problem : run.problems) {
      problems.Append(Value::Object({{"where", problem.where}, {"message", problem.message}}));
    }
    add(run.name, ResultOf(run), std::move(problems));
  }
  if (outcome.unusable.empty()) return;
  Value problems = Value::EmptyArray();
  for (const Status& status : outcome.unusable) {
    problems.Append(Value::Object({{"where", ""}, {"message", status.ToString()}}));
  }
  add("", "unusable", std::move(problems));
}

// Directories below tests/ that have a case.yaml; those that are named, or all.
Result<std::vector<std::string>> FindCases(const FlowTestOptions& options) {
  const fs::path tests = fs::path(options.directory) / "tests";
  const auto is_case = [&](const std::string& name) {
    std::error_code error;
    return fs::exists(tests / name / "case.yaml", error);
  };
  for (const std::string& name : options.cases) {
    if (is_case(name)) continue;
    return Fail(Code::kNotFound, std::string(cli::kUsageId), "there is no {}",
                (tests / name / "case.yaml").string());
  }
  if (!options.cases.empty()) return options.cases;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(tests, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (is_case(name)) names.push_back(name);
  }
  if (names.empty()) {
    return Fail(Code::kInvalidArgument, std::string(cli::kUsageId),
                "{} has no cases: expected directories with a case.yaml", tests.string());
  }
  std::ranges::sort(names);
  return names;
}

Status Test(const FlowTestOptions& options, cli::Context& context) {
  const cli::AppResult app = cli::ReadAppDirectory(options.directory);
  if (!app.problems.empty()) return context.ShowAllButLast(app.problems);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, FindCases(options));
  Value rows = Value::EmptyArray();
  size_t runs = 0;
  size_t failed = 0;
  size_t unusable = 0;
  for (const std::string& name : names) {
    const std::string directory = (fs::path(options.directory) / "tests" / name).string();
    const FlowCaseOutcome outcome = RunFlowCase(app.app, directory, options.files);
    if (!outcome.unusable.empty()) ++unusable;
    runs += outcome.runs.size();
    failed += static_cast<size_t>(std::ranges::count_if(
        outcome.runs, [](const FlowRunOutcome& run) { return !run.problems.empty(); }));
    if (context.output.json()) {
      AddRows(name, outcome, &rows);
    } else {
      Print(name, outcome, &context.output);
      context.output.Flush();
    }
  }
  if (context.output.json()) context.output.Rows(rows, {});
  if (unusable > 0) {
    return Error(Code::kInvalidArgument, cli::kTestUnusableId, "{} of {} cases can't be run",
                 unusable, names.size());
  }
  if (failed == 0) return OkStatus();
  return Error(Code::kInvalidArgument, cli::kTestFailedId, "{} of {} runs failed", failed, runs);
}

}  // namespace

void AddFlowTestCommand(cli::Program* program) {
  const auto options = std::make_shared<FlowTestOptions>();
  CLI::App* const command =
      program->AddCommand(program->app().get_subcommand("flow"), "test",
                          "Run flows of an app directory with mocked tasks, without a server",
                          [options](cli::Context& context) { return Test(*options, context); });
  command
      ->add_option("directory", options->directory,
                   "App directory; the cases are tests/NAME/case.yaml in it")
      ->required();
  command->add_option("case", options->cases, "Only these cases");
  command->add_option(
      "--files", options->files,
      "Directory that file() of the flows may use, like the setting flows.directories");
}

}  // namespace sluice::server
