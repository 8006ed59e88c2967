// types migrate NAME: starts a mass migration, shows its progress and its result.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress_bar.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

using json::Value;

constexpr auto kPollInterval = std::chrono::milliseconds(200);

struct MigrateOptions {
  std::string name;
  bool dry_run = false;
  bool announce = false;
  bool background = false;
  bool cancel = false;
  bool status = false;
  uint64_t rate = 0;
};

std::string JobPath(const MigrateOptions& options) {
  return "/v1/types/" + Segment(options.name) + "/migration";
}

Result<Value> Begin(const MigrateOptions& options, Api* api) {
  Value body = Value::Object({{"dry_run", options.dry_run}, {"announce", options.announce}});
  if (options.rate != 0) body.Set("rate", Value::Unsigned(options.rate));
  return api->CallJson({.method = "POST",
                        .path = JobPath(options),
                        .headers = {{"Content-Type", "application/json"}},
                        .body = json::ToText(body)});
}

uint64_t CountOf(const Value& count) {
  return count.is_int() ? static_cast<uint64_t>(count.AsInt()) : 0;
}

Result<Value> WaitForEnd(const MigrateOptions& options, Api* api, Context& context) {
  ProgressBar bar(&context.output);
  while (true) {
    ASSIGN_OR_RETURN(Value job, api->CallJson({.path = JobPath(options)}));
    if (job["state"] != Value("running")) return job;
    bar.Show(CountOf(job["scanned"]), CountOf(job["about"]),
             fmt::format("documents, {} migrated, {} failed", CellText(job["migrated"]),
                         CellText(job["failed"])));
    std::this_thread::sleep_for(kPollInterval);
  }
}

Value CountOf(const Value& counts, std::string_view version) {
  const Value& count = counts[version];
  return count.is_missing() ? Value(0) : count;
}

void ShowCounts(const Value& job, Output* output) {
  Value versions = job["before"];
  for (const auto& [name, count] : job["after"].fields()) versions.Set(name.AsString(), count);
  Value rows = Value::EmptyArray();
  for (const auto& [name, count] : versions.fields()) {
    const std::string_view version = name.AsString();
    rows.Append(Value::Object({{"version", version},
                               {"before", CountOf(job["before"], version)},
                               {"after", CountOf(job["after"], version)}}));
  }
  output->Rows(rows, {{"VERSION", "version"}, {"BEFORE", "before"}, {"AFTER", "after"}});
}

// "950 of 2.0, 3 without a version": the documents that do not have the current version.
std::string LeftBehind(const Value& job) {
  std::vector<std::string> left;
  for (const auto& [version, count] : job["after"].fields()) {
    if (version == job["to"] || CountOf(count) == 0) continue;
    left.push_back(version == Value("none")
                       ? fmt::format("{} without a version", CellText(count))
                       : fmt::format("{} of version {}", CellText(count), CellText(version)));
  }
  return fmt::format("{}", fmt::join(left, ", "));
}

void ShowJob(const Value& job, Output* output) {
  if (output->json()) return output->Object(job);
  ShowCounts(job, output);
  output->Note(fmt::format("{}: {} of {} documents migrated{}, {} failed", CellText(job["state"]),
                           CellText(job["migrated"]), CellText(job["documents"]),
                           job["dry_run"] == Value(true) ? " (only tried)" : "",
                           CellText(job["failed"])));
  if (CountOf(job["restarts"]) > 0) {
    output->Note(
        fmt::format("the type's version changed to {} in the meantime: the migration started over",
                    CellText(job["to"])));
  }
  for (const auto& [path, count] : job["lost"].fields()) {
    output->Note(fmt::format("values of {} are no longer there in {} documents", CellText(path),
                             CellText(count)));
  }
  for (const Value& failure : job["failures"].items()) {
    output->Note(fmt::format("{}: {} ({})", CellText(failure["key"]), CellText(failure["message"]),
                             CellText(failure["id"])));
  }
}

Status Migrate(const MigrateOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  if (options.cancel) return api->Do({.method = "DELETE", .path = JobPath(options)});
  Value job;
  if (options.status) {
    ASSIGN_OR_RETURN(job, api->CallJson({.path = JobPath(options)}));
  } else {
    ASSIGN_OR_RETURN(job, Begin(options, api));
    if (!options.background) {
      ASSIGN_OR_RETURN(job, WaitForEnd(options, api, context));
    }
  }
  ShowJob(job, &context.output);
  if (job["state"] == Value("failed")) {
    return Error(Code::kInternal, "migration.failed", "{}", CellText(job["problem"]));
  }
  const std::string left = job["state"] == Value("done") ? LeftBehind(job) : "";
  if (job["failed"] == Value(0) && left.empty()) return OkStatus();
  return Error(Code::kInvalidArgument, std::string(kMigrationIncompleteId),
               "{} documents could not be migrated; there are {}", CellText(job["failed"]),
               left.empty() ? "none of other versions" : left);
}

}  // namespace

void AddTypeMigrateCommand(Program* program, CLI::App* group) {
  const auto options = std::make_shared<MigrateOptions>();
  CLI::App* migrate = program->AddCommand(
      group, "migrate", "Migrate all stored documents of a type to its current version",
      [options](Context& context) { return Migrate(*options, context); });
  migrate->add_option("name", options->name, "Type")->required();
  migrate->add_flag("--dry-run", options->dry_run, "Try the migrations and count, without writing");
  migrate->add_option("--rate", options->rate, "Documents per second at most")
      ->check(CLI::PositiveNumber);
  migrate->add_flag("--announce", options->announce,
                    "Send an event to functions and feeds for each document");
  migrate->add_flag("--background", options->background, "Do not wait for the end");
  CLI::Option* status =
      migrate->add_flag("--status", options->status, "Show the progress of the migration");
  migrate->add_flag("--cancel", options->cancel, "Stop the running migration")->excludes(status);
}

}  // namespace sluice::cli
