#include "cli/apply.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "cli/flow_files.h"
#include "cli/function_plan.h"
#include "cli/importer.h"
#include "cli/output.h"
#include "cli/sql_files.h"
#include "cli/type_files.h"
#include "json/parse.h"

namespace sluice::cli {
namespace {

void WriteSeed(Api* api, const SeedFile& seed, const std::function<void(std::string_view)>& say,
               std::vector<Status>* problems) {
  std::ifstream file(seed.path, std::ios::binary);
  if (!file) {
    problems->push_back(
        Error(Code::kIo, "file.unreadable", "can't read {}: {}", seed.path, std::strerror(errno)));
    return;
  }
  Importer importer(
      api, {.keyspace = seed.keyspace, .if_absent = true},
      [&](const ImportProblem& problem) {
        Status status = problem.status.At({seed.path, static_cast<uint32_t>(problem.number), 0});
        if (problem.stored) return say(status.ToString());
        problems->push_back(std::move(status));
      },
      [](const ImportCounts&) {});
  const Status ended = importer.Run(file);
  if (!ended.ok()) problems->push_back(ended.At({seed.path, 0, 0}));
  if (importer.counts().imported > 0) {
    say(fmt::format("{} documents put into {}", importer.counts().imported, seed.keyspace));
  }
}

void SayWarnings(std::string_view answer, const std::function<void(std::string_view)>& say) {
  const auto parsed = json::Parse(answer);
  if (!parsed) return;
  for (const json::Value& warning : (*parsed)["warnings"].items()) {
    if (!warning["id"].is_string()) continue;
    say(fmt::format("warning: {} ({})", CellText(warning["message"]), CellText(warning["id"])));
  }
}

// Prints the warnings of a function, with their places in its files.
void SayWarnings(std::string_view answer, const FunctionSpec& function,
                 const std::function<void(std::string_view)>& say) {
  const auto parsed = json::Parse(answer);
  if (!parsed) return;
  for (const json::Value& warning : (*parsed)["warning_info"]["warnings"].items()) {
    const Status located =
        Located(Error(Code::kInvalidArgument, "app.invalid", "{}", CellText(warning)), function);
    const Place& place = located.place();
    const std::string where =
        place.line == 0 ? "" : fmt::format("{}:{}:{}: ", place.file, place.line, place.column);
    say(fmt::format("warning: {}{}", where, located.message()));
  }
}

Status CarryOutStep(Api* api, const Step& step, const std::function<void(std::string_view)>& say) {
  for (const ApiRequest& request : step.requests) {
    const auto answer = api->Call(request);
    if (!answer) {
      return step.function == nullptr ? answer.error().Prefixed(step.ToString())
                                      : Located(answer.error(), *step.function);
    }
    if (step.function == nullptr) {
      SayWarnings(answer->body, say);
    } else {
      SayWarnings(answer->body, *step.function, say);
    }
  }
  say(step.ToString() + ": done");
  return OkStatus();
}

// They are replaced as a whole by an app that has some, and kept by one that has none.
Status PlanFlows(Api* api, const AppDirectory& app, Prune prune, Plan* plan) {
  ASSIGN_OR_RETURN(const json::Value present,
                   api->CallJson({.method = "GET", .path = "/v1/flows/app"}));
  if (present["files"] == app.flow_files["files"]) return OkStatus();
  const size_t files = CountFlowFiles(app.flow_files);
  if (files > 0) {
    plan->flows = fmt::format("replace flows, tasks and endpoints ({} files)", files);
    return OkStatus();
  }
  const std::string what =
      fmt::format("flows, tasks and endpoints ({} files)", CountFlowFiles(present));
  if (prune == Prune::kYes) {
    plan->flows = "drop " + what;
  } else {
    plan->kept.push_back(what);
  }
  return OkStatus();
}

}  // namespace

Result<Plan> MakeWholePlan(Api* api, const AppDirectory& app, Prune prune) {
  ASSIGN_OR_RETURN(const KeyspacesSpec keyspaces, FetchKeyspaces(api));
  ASSIGN_OR_RETURN(const FunctionsPresent functions, FetchFunctions(api));
  Plan plan = MakePlan(app.keyspaces, keyspaces, prune);
  ASSIGN_OR_RETURN(SqlPlan sql, PlanSql(api, app.procedures, app.sql,
                                        prune == Prune::kYes ? DropKeys::kYes : DropKeys::kNo));
  plan.sql = std::move(sql.steps);
  plan.kept.insert(plan.kept.end(), sql.kept.begin(), sql.kept.end());
  plan.differences = std::move(sql.differences);
  RETURN_IF_ERROR(PlanTypes(api, app, prune, &plan));
  PlanFunctions(app, functions, prune, &plan);
  RETURN_IF_ERROR(PlanFlows(api, app, prune, &plan));
  return plan;
}

std::vector<Status> CarryOut(Api* api, const AppDirectory& app, const Plan& plan,
                             const std::function<void(std::string_view)>& say) {
  std::vector<Status> problems;
  for (const Step& step : plan.steps) {
    const Status done = CarryOutStep(api, step, say);
    if (!done.ok()) return {done};
  }
  const std::atomic<bool> never = false;
  SqlStream stream(api, &never);
  for (const SqlStep& step : plan.sql) {
    std::vector<Status> failed = CarryOutSql(&stream, step);
    if (!failed.empty()) return failed;
    say(step.what + ": done");
  }
  for (const SeedFile& seed : app.seeds) WriteSeed(api, seed, say, &problems);
  for (const Step& step : plan.functions) {
    const Status done = CarryOutStep(api, step, say);
    if (!done.ok()) problems.push_back(done);
  }
  if (plan.flows.empty()) return problems;
  const std::vector<Status> flows =
      SendFlowFiles(api, app.directory, app.flow_files, SendMode::kReplace, say);
  problems.insert(problems.end(), flows.begin(), flows.end());
  if (flows.empty()) say(plan.flows + ": done");
  return problems;
}

}  // namespace sluice::cli
