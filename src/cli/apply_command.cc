// apply DIR: shows the changes, then makes them.
#include <memory>

#include <unistd.h>

#include "cli/apply.h"
#include "cli/commands.h"

namespace sluice::cli {
namespace {

struct ApplyOptions {
  std::string directory;
  bool dry_run = false;
  bool prune = false;
  bool yes = false;
};

json::Value PlanView(const Plan& plan) {
  json::Value steps = json::Value::EmptyArray();
  for (const Step& step : plan.steps) steps.Append(step.ToString());
  for (const SqlStep& step : plan.sql) steps.Append(step.what);
  for (const Step& step : plan.functions) steps.Append(step.ToString());
  if (!plan.flows.empty()) steps.Append(plan.flows);
  json::Value kept = json::Value::EmptyArray();
  for (const std::string& what : plan.kept) kept.Append(what);
  json::Value differences = json::Value::EmptyArray();
  for (const std::string& what : plan.differences) differences.Append(what);
  return json::Value::Object({{"steps", std::move(steps)},
                              {"kept", std::move(kept)},
                              {"differences", std::move(differences)}});
}

void ShowPlan(const Plan& plan, Output* output) {
  if (output->json()) {
    output->Object(PlanView(plan));
    return;
  }
  for (const Step& step : plan.steps) output->Line(step.ToString());
  for (const SqlStep& step : plan.sql) output->Line(step.what);
  for (const Step& step : plan.functions) output->Line(step.ToString());
  if (!plan.flows.empty()) output->Line(plan.flows);
  for (const std::string& what : plan.kept) {
    output->Note(fmt::format("not in the app: {} (kept; --prune drops it)", what));
  }
  for (const std::string& what : plan.differences) output->Note("warning: " + what);
  if (plan.empty()) {
    output->Note(plan.differences.empty() ? "nothing to change"
                                          : "nothing to change except for the warnings");
  }
}

Status Confirm(const ApplyOptions& options, const Plan& plan, Context& context) {
  if (options.yes || plan.empty()) return OkStatus();
  if (!isatty(STDIN_FILENO)) {
    return UsageError("standard input is not a terminal to ask on: add --yes to do it");
  }
  context.output.notes() << "Do it? [y/N] " << std::flush;
  std::string answer;
  std::getline(context.in, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return OkStatus();
  return Error(Code::kCancelled, "cli.declined", "nothing was changed");
}

Status ApplyApp(const ApplyOptions& options, Context& context) {
  const AppResult read = ReadAppDirectory(options.directory);
  if (!read.problems.empty()) return context.ShowAllButLast(read.problems);
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Plan plan,
                   MakeWholePlan(api, read.app, options.prune ? Prune::kYes : Prune::kNo));
  ShowPlan(plan, &context.output);
  context.output.Flush();
  if (options.dry_run) return OkStatus();
  RETURN_IF_ERROR(Confirm(options, plan, context));
  return context.ShowAllButLast(
      CarryOut(api, read.app, plan, [&](std::string_view line) { context.output.Note(line); }));
}

}  // namespace

void AddApplyCommand(Program* program) {
  const auto options = std::make_shared<ApplyOptions>();
  CLI::App* command =
      program->AddCommand(&program->app(), "apply", "Change a server to match an app directory",
                          [options](Context& context) { return ApplyApp(*options, context); });
  command->add_option("directory", options->directory, "App directory: it holds sluice.yaml")
      ->required();
  command->add_flag("--dry-run", options->dry_run, "Show the changes without making them");
  command->add_flag("--prune", options->prune,
                    "Also drop everything in the app's buckets that the app does not name");
  command->add_flag("-y,--yes", options->yes, "Do not ask");
}

}  // namespace sluice::cli
