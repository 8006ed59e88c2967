// flow lint.
#include <memory>

#include "cli/exit_code.h"
#include "cli/flow_files.h"
#include "server/commands.h"
#include "server/flow_stage.h"

namespace sluice::server {
namespace {

struct FlowLintOptions {
  std::string directory;
  bool local = false;
  std::vector<std::string> files;
};

// Returns all errors, with their places below the directory; prints warnings.
std::vector<Status> TellAll(const flow::Problems& found, const std::string& directory,
                            cli::Output* output) {
  std::vector<Status> errors;
  for (const flow::Problem& problem : found.Sorted()) {
    Place place = problem.status.place();
    place.file = directory + "/" + place.file;
    if (problem.severity == flow::Problem::Severity::kError) {
      errors.push_back(problem.status.At(place));
    } else {
      output->Note(cli::WarningText(problem.status.At(place), output->format()));
    }
  }
  return errors;
}

// Without a server: with a database that has the keyspaces and tables of the directory.
Result<std::vector<Status>> LintHere(const FlowLintOptions& options, const cli::AppDirectory& app,
                                     cli::Output* output) {
  ASSIGN_OR_RETURN(const auto stage, FlowStage::Set(app, SystemClock().WallMs(), options.files));
  ASSIGN_OR_RETURN(flow_engine::Bundle bundle, flow_engine::BundleFromJson(app.flow_files));
  flow::Problems found;
  if (stage->Load(std::move(bundle), &found).ok()) stage->Check(&found);
  return TellAll(found, options.directory, output);
}

Status Lint(const FlowLintOptions& options, cli::Context& context) {
  const cli::AppResult app = cli::ReadAppDirectory(options.directory);
  if (!app.problems.empty()) return context.ShowAllButLast(app.problems);
  if (cli::CountFlowFiles(app.app.flow_files) == 0) {
    return Error(Code::kInvalidArgument, std::string(cli::kUsageId),
                 "{} has no flows, tasks and endpoints", options.directory);
  }
  const auto say = [&](std::string_view line) { context.output.Note(line); };
  std::vector<Status> problems;
  if (options.local) {
    ASSIGN_OR_RETURN(problems, LintHere(options, app.app, &context.output));
  } else {
    ASSIGN_OR_RETURN(cli::Api* const api, context.api());
    problems = cli::SendFlowFiles(api, options.directory, app.app.flow_files, cli::SendMode::kCheck,
                                  say, context.output.format());
  }
  for (const Status& problem : problems) {
    // Without a place it is why nothing could be checked.
    if (problem.place().file.empty()) return problem;
    context.output.Problem(problem);
  }
  if (problems.empty()) return OkStatus();
  return Error(Code::kInvalidArgument, std::string(cli::kLintFailedId), "{} has {} error{}",
               options.directory, problems.size(), problems.size() == 1 ? "" : "s");
}

}  // namespace

void AddFlowLintCommand(cli::Program* program) {
  const auto options = std::make_shared<FlowLintOptions>();
  CLI::App* const command =
      program->AddCommand(program->app().get_subcommand("flow"), "lint",
                          "Report every problem of an app directory's flows, tasks and endpoints",
                          [options](cli::Context& context) { return Lint(*options, context); });
  command
      ->add_option("directory", options->directory, "App directory; nothing on the server changes")
      ->required();
  command->add_flag(
      "--local", options->local,
      "Check without a server, with the keyspaces and tables that the directory declares");
  command->add_option(
      "--files", options->files,
      "With --local: a directory that file() may use, like the setting flows.directories");
}

}  // namespace sluice::server
