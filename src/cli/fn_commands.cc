// fn list|show|deploy|undeploy|pause|resume|delete|logs|stats.
#include <memory>

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/function_path.h"

namespace sluice::cli {
namespace {

using json::Value;

struct FnOptions {
  std::string name;
  bool code = false;
  size_t bytes = 40960;
  bool all = false;
};

std::string FullNameOf(const Value& name, const Value& scope) {
  const std::string bucket = TextOf(scope["bucket"]);
  if (bucket == "*" || bucket.empty()) return TextOf(name);
  return fmt::format("{}/{}/{}", bucket, TextOf(scope["scope"]), TextOf(name));
}

std::string SourceOf(const Value& depcfg) {
  const std::string scope = TextOf(depcfg["source_scope"]);
  const std::string collection = TextOf(depcfg["source_collection"]);
  const std::string bucket = TextOf(depcfg["source_bucket"]);
  if (scope == "_default" && collection == "_default") return bucket;
  return fmt::format("{}.{}.{}", bucket, scope, collection);
}

Status ListFunctions(Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value functions, api->CallJson({.path = FunctionPath("functions")}));
  ASSIGN_OR_RETURN(const Value status, api->CallJson({.path = FunctionPath("status")}));
  std::map<std::string, Value> states;
  for (const Value& app : status["apps"].items()) {
    states[FullNameOf(app["name"], app["function_scope"])] = app;
  }
  Value rows = Value::EmptyArray();
  for (const Value& function : functions.items()) {
    const std::string name = FullNameOf(function["appname"], function["function_scope"]);
    const Value& state = states[name];
    rows.Append(Value::Object({{"name", name},
                               {"state", state["composite_status"]},
                               {"source", SourceOf(function["depcfg"])},
                               {"failure", state["failure"]}}));
  }
  context.output.Rows(
      rows,
      {{"FUNCTION", "name"}, {"STATE", "state"}, {"SOURCE", "source"}, {"FAILURE", "failure"}});
  return OkStatus();
}

Status ShowFunction(const FnOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  if (options.code) {
    ASSIGN_OR_RETURN(const ApiResponse code,
                     api->Call({.path = FunctionPath("functions", options.name, "appcode")}));
    context.output.Raw(code.body);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const Value definition,
                   api->CallJson({.path = FunctionPath("functions", options.name)}));
  if (context.output.json()) {
    context.output.Object(definition);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const Value status,
                   api->CallJson({.path = FunctionPath("status", options.name)}));
  const Value& depcfg = definition["depcfg"];
  context.output.Object(Value::Object({{"name", definition["appname"]},
                                       {"state", status["app"]["composite_status"]},
                                       {"failure", status["app"]["failure"]},
                                       {"caught_up", status["app"]["caught_up"]},
                                       {"source", SourceOf(depcfg)},
                                       {"buckets", depcfg["buckets"]},
                                       {"urls", depcfg["curl"]},
                                       {"constants", depcfg["constants"]},
                                       {"settings", definition["settings"]}}));
  return OkStatus();
}

Status ChangeState(const FnOptions& options, const std::string& what, std::string_view done,
                   Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(
      api->Do({.method = "POST", .path = FunctionPath("functions", options.name, what)}));
  context.output.Note(fmt::format("function {} {}", options.name, done));
  return OkStatus();
}

Status DeleteFunction(const FnOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "DELETE", .path = FunctionPath("functions", options.name)}));
  context.output.Note(fmt::format("function {} deleted", options.name));
  return OkStatus();
}

Status Logs(const FnOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(
      const ApiResponse log,
      api->Call({.path = NamedPath("getAppLog", options.name, std::to_string(options.bytes))}));
  context.output.Raw(log.body);
  return OkStatus();
}

// "execution_stats.on_update_success  17": one line for each number.
Value Flattened(const Value& statistics) {
  Value flat = Value::EmptyObject();
  for (const json::Field& field : statistics.fields()) {
    if (!field.value.is_object()) {
      flat.Set(field.name(), field.value);
      continue;
    }
    for (const json::Field& inner : field.value.fields()) {
      flat.Set(fmt::format("{}.{}", field.name(), inner.name()), inner.value);
    }
  }
  return flat;
}

int64_t Sum(const Value& group, std::initializer_list<std::string_view> names) {
  int64_t sum = 0;
  for (const std::string_view name : names) {
    if (group[name].is_int()) sum += group[name].AsInt();
  }
  return sum;
}

std::string LagText(const Value& lag, int64_t waiting) {
  if (!lag.is_object()) return "the function does not run";
  if (lag["caught_up"] == Value(true)) return "none";
  if (lag["reads_documents"] == Value(true)) {
    return fmt::format("reads the documents that were there, {} changes in hand", waiting);
  }
  return fmt::format("{} commits behind, {} changes in hand", Sum(lag, {"commits_behind"}),
                     waiting);
}

// The most useful of the many counts of Couchbase.
Value Summary(const Value& statistics) {
  const Value& run = statistics["execution_stats"];
  const Value& failed = statistics["failure_stats"];
  const Value& kept = statistics["failures"];
  const Value& latency = statistics["latency_percentile_stats"];
  return Value::Object(
      {{"lag", LagText(statistics["lag"], Sum(statistics["events_remaining"], {"dcp_backlog"}))},
       {"updates", Sum(run, {"on_update_success", "on_update_failure"})},
       {"deletions", Sum(run, {"on_delete_success", "on_delete_failure"})},
       {"timers", Sum(run, {"timer_callback_success", "timer_callback_failure"})},
       {"failed", Sum(run, {"on_update_failure", "on_delete_failure", "timer_callback_failure"})},
       {"timeouts", Sum(failed, {"timeout_count"})},
       {"retries", Sum(kept, {"retry_success", "retry_failure"})},
       {"waiting_for_retry", Sum(kept, {"waiting"})},
       {"dead", Sum(kept, {"dead"})},
       {"own_changes_left_out",
        Sum(statistics["event_processing_stats"],
            {"dcp_mutation_suppressed_counter", "dcp_deletion_suppressed_counter"})},
       {"latency_us", Value::Object({{"50%", latency["50"]}, {"99%", latency["99"]}})}});
}

Status Stats(const FnOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value statistics,
                   api->CallJson({.path = FunctionPath("stats", options.name)}));
  if (context.output.json()) {
    context.output.Object(statistics);
  } else {
    context.output.Object(options.all ? Flattened(statistics) : Summary(statistics));
  }
  return OkStatus();
}

}  // namespace

void AddFnCommands(Program* program) {
  const auto options = std::make_shared<FnOptions>();
  CLI::App* group = program->AddGroup("fn", "JavaScript functions that run on changes");
  program->AddCommand(group, "list", "List the functions", ListFunctions);
  const auto add = [&](const std::string& name, const std::string& help,
                       Status (*run)(const FnOptions&, Context&)) {
    CLI::App* command = program->AddCommand(
        group, name, help, [options, run](Context& context) { return run(*options, context); });
    command->add_option("name", options->name, "Function: NAME, or BUCKET/SCOPE/NAME")->required();
    return command;
  };
  add("show", "Show a function's definition", ShowFunction)
      ->add_flag("--code", options->code, "Only its code");
  add("deploy", "Start a function, or continue a paused one",
      [](const FnOptions& o, Context& c) { return ChangeState(o, "deploy", "deployed", c); });
  add("undeploy", "Stop a function and forget its position",
      [](const FnOptions& o, Context& c) { return ChangeState(o, "undeploy", "undeployed", c); });
  add("pause", "Stop a function and keep its position",
      [](const FnOptions& o, Context& c) { return ChangeState(o, "pause", "paused", c); });
  add("resume", "Continue a paused function",
      [](const FnOptions& o, Context& c) { return ChangeState(o, "resume", "resumed", c); });
  add("delete", "Delete an undeployed function", DeleteFunction);
  add("logs", "Print the log of a function, newest first", Logs)
      ->add_option("--bytes", options->bytes, "Print at most this many bytes")
      ->capture_default_str();
  add("stats", "Show the counts of a function, and how far it is behind", Stats)
      ->add_flag("--all", options->all, "Every count, with its name in the REST interface");
  AddFnInsightCommand(program, group);
  AddFnFailuresCommand(program, group);
  AddFnTransferCommands(program, group);
}

}  // namespace sluice::cli
