// flow list|graph|run|runs|show|cancel|retry; traces are in flow_trace_commands.cc.
#include <iterator>
#include <memory>

#include "base/file.h"
#include "base/time_text.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/text_width.h"

namespace sluice::cli {
namespace {

using json::Value;

constexpr size_t kMaxInputBytes = 64ull << 20;
constexpr int64_t kFirstFailure = 400;

struct FlowOptions {
  std::string name;
  std::string input;
  bool svg = false;
  bool no_wait = false;
  std::string flow;
  std::string state;
  std::string run;
  size_t limit = 100;
  uint32_t step = 0;
};

Status ListFlows(Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = "/v1/flows"}));
  context.output.Rows(answer["flows"], {{"FLOW", "id"},
                                        {"DURABLE", "durable"},
                                        {"TASKS", "tasks"},
                                        {"TTL_MS", "ttl_ms"},
                                        {"DESCRIPTION", "description"}});
  return OkStatus();
}

Status Graph(const FlowOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const std::string query = Query({{"format", options.svg ? "svg" : "mermaid"}});
  ASSIGN_OR_RETURN(const ApiResponse drawn,
                   api->Call({.path = "/v1/flows/" + Segment(options.name) + "/graph" + query}));
  context.output.Raw(drawn.body);
  return OkStatus();
}

Result<std::string> ReadFlowInput(const std::string& file, Context& context) {
  if (file.empty()) return std::string("{}");
  if (file != "-") return ReadFile(file, kMaxInputBytes);
  return std::string(std::istreambuf_iterator<char>(context.in), {});
}

Status Run(const FlowOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ApiRequest request{.method = "POST", .path = "/v1/flows/" + Segment(options.name) + "/run"};
  if (options.no_wait) request.path += Query({{"wait", "false"}});
  ASSIGN_OR_RETURN(request.body, ReadFlowInput(options.input, context));
  request.headers.emplace_back("Content-Type", "application/json");
  ASSIGN_OR_RETURN(const Value answer, api->CallJson(request));
  context.output.Object(answer);
  if (options.no_wait) return OkStatus();
  const int64_t status = answer["status"].is_int() ? answer["status"].AsInt() : 0;
  if (status < kFirstFailure) return OkStatus();
  return Error(Code::kInternal, std::string(kRunFailedId), "flow {} answered {}", options.name,
               status);
}

// For people: times as text instead of milliseconds; `steps` and `waiting` go into tables.
Value WithTimes(const Value& run) {
  Value shown = Value::EmptyObject();
  for (const json::Field& field : run.fields()) {
    const std::string_view name = field.name();
    const Value& value = field.value;
    if (value.is_array()) continue;
    const bool is_time = name.ends_with("_ms") && value.is_int();
    if (!is_time) {
      shown.Set(name, value);
      continue;
    }
    shown.Set(name.substr(0, name.size() - 3), UtcText(static_cast<uint64_t>(value.AsInt())));
  }
  return shown;
}

Status ListRuns(const FlowOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  std::vector<std::pair<std::string, std::string>> query = {
      {"limit", std::to_string(options.limit)}};
  if (!options.flow.empty()) query.emplace_back("flow", options.flow);
  if (!options.state.empty()) query.emplace_back("state", options.state);
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = "/v1/flows/runs" + Query(query)}));
  if (context.output.json()) {
    context.output.Rows(answer["runs"], {});
  } else {
    Value rows = Value::EmptyArray();
    for (const Value& run : answer["runs"].items()) rows.Append(WithTimes(run));
    context.output.Rows(rows, {{"RUN", "id"},
                               {"FLOW", "flow"},
                               {"STATE", "state"},
                               {"STATUS", "status"},
                               {"STEPS", "steps"},
                               {"CREATED", "created"},
                               {"MESSAGE", "message"}});
  }
  if (!answer["next"].is_missing()) context.output.Note("There are more: use --limit");
  return OkStatus();
}

std::string RunPath(const FlowOptions& options, const std::string& rest = "") {
  return "/v1/flows/runs/" + Segment(options.run) + rest;
}

// Values of any size, in a table for people; -o json has all of them.
Value Shortened(Value row) {
  constexpr size_t kWidest = 60;
  for (const char* const name : {"input", "output"}) {
    if (row[name].is_missing()) continue;
    row.Set(name, CutToWidth(CellText(row[name]), kWidest));
  }
  return row;
}

Status ShowDurableRun(const FlowOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value run, api->CallJson({.path = RunPath(options)}));
  if (context.output.json()) {
    context.output.Object(run);
    return OkStatus();
  }
  context.output.Object(WithTimes(run));
  if (run["steps"].size() > 0) {
    context.output.Line("");
    Value rows = Value::EmptyArray();
    for (const Value& step : run["steps"].items()) rows.Append(Shortened(step));
    context.output.Rows(rows, {{"STEP", "step"},
                               {"TASK", "task"},
                               {"STATE", "state"},
                               {"STATUS", "status"},
                               {"RAN_US", "ran_us"},
                               {"INPUT", "input"},
                               {"OUTPUT", "output"}});
  }
  if (run["waiting"].size() > 0) {
    context.output.Line("");
    Value rows = Value::EmptyArray();
    for (const Value& task : run["waiting"].items()) rows.Append(Shortened(WithTimes(task)));
    context.output.Rows(
        rows, {{"WAITING", "task"}, {"FLOW", "flow"}, {"INPUT", "input"}, {"UNTIL", "send"}});
  }
  return OkStatus();
}

Status CancelRun(const FlowOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "POST", .path = RunPath(options, "/cancel")}));
  context.output.Note(fmt::format("run {} cancelled", options.run));
  return OkStatus();
}

Status RetryRun(const FlowOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  std::string path = RunPath(options, "/retry");
  if (options.step != 0) path += Query({{"step", std::to_string(options.step)}});
  RETURN_IF_ERROR(api->Do({.method = "POST", .path = path}));
  context.output.Note(fmt::format("run {} continues", options.run));
  return OkStatus();
}

}  // namespace

void AddFlowCommands(Program* program) {
  const auto options = std::make_shared<FlowOptions>();
  CLI::App* group = program->AddGroup("flow", "Flows: YAML transactions of an app");
  const auto add = [&](const std::string& name, const std::string& help,
                       Status (*run)(const FlowOptions&, Context&)) {
    return program->AddCommand(group, name, help,
                               [options, run](Context& context) { return run(*options, context); });
  };
  program->AddCommand(group, "list", "List the flows of the server's app", ListFlows);
  CLI::App* graph = add("graph", "Draw a flow, as text for Mermaid or as SVG", Graph);
  graph->add_option("name", options->name, "Flow")->required();
  graph->add_flag("--svg", options->svg, "A picture instead of text");
  CLI::App* run = add("run", "Run a flow and print its response", Run);
  run->add_option("name", options->name, "Flow")->required();
  run->add_option(
      "--input", options->input,
      "File with the flow's input as JSON, such as {\"body\": ...}; - for standard input");
  run->add_flag("--no-wait", options->no_wait,
                "Start a durable flow without waiting, and print the id of its run");
  CLI::App* runs = add("runs", "List durable runs, the newest first", ListRuns);
  runs->add_option("--flow", options->flow, "Only runs of this flow");
  runs->add_option("--state", options->state, "running, completed, failed or cancelled");
  runs->add_option("--limit", options->limit, "How many")->capture_default_str();
  const auto add_run = [&](const std::string& name, const std::string& help,
                           Status (*command)(const FlowOptions&, Context&)) {
    CLI::App* made = add(name, help, command);
    made->add_option("run", options->run, "Id of the run")->required();
    return made;
  };
  add_run("show", "Show a durable run: its steps, and the tasks and times that it waits for",
          ShowDurableRun);
  add_run("cancel", "End a durable run", CancelRun);
  add_run("retry", "Run a finished durable run again from one of its steps", RetryRun)
      ->add_option("--step", options->step, "Step whose task runs again (default: the last)")
      ->check(CLI::PositiveNumber);
  AddFlowTraceCommands(program, group);
}

}  // namespace sluice::cli
