// flow traces|trace.
#include <algorithm>
#include <memory>

#include "base/time_text.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

namespace sluice::cli {
namespace {

using json::Value;

constexpr uint64_t kUsPerMs = 1000;
constexpr uint64_t kTimelineWidth = 40;

struct TraceOptions {
  std::string flow;
  std::string least;
  bool failed = false;
  size_t limit = 100;
  std::string id;
};

uint64_t UnsignedOf(const Value& value) {
  return value.is_int() ? static_cast<uint64_t>(std::max<int64_t>(0, value.AsInt())) : 0;
}

// 12345 as 12.345.
std::string MsText(uint64_t us) { return fmt::format("{}.{:03}", us / kUsPerMs, us % kUsPerMs); }

Status ListTraces(const TraceOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  std::vector<std::pair<std::string, std::string>> query = {
      {"limit", std::to_string(options.limit)}};
  if (!options.flow.empty()) query.emplace_back("flow", options.flow);
  if (!options.least.empty()) query.emplace_back("min", options.least);
  if (options.failed) query.emplace_back("failed", "true");
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = "/v1/flows/traces" + Query(query)}));
  if (context.output.json()) {
    context.output.Rows(answer["traces"], {});
    return OkStatus();
  }
  Value rows = Value::EmptyArray();
  for (Value row : answer["traces"].items()) {
    row.Set("started", Value(UtcText(UnsignedOf(row["started_ms"]))));
    row.Set("took", Value(MsText(UnsignedOf(row["duration_us"]))));
    rows.Append(std::move(row));
  }
  context.output.Rows(rows, {{"TRACE", "trace"},
                             {"FLOW", "flow"},
                             {"ORIGIN", "origin"},
                             {"STATUS", "status"},
                             {"TASKS", "tasks"},
                             {"TOOK_MS", "took"},
                             {"STARTED", "started"},
                             {"MESSAGE", "message"}});
  return OkStatus();
}

// When a span was, within its run: dots while it waited for an instance, lines while it ran.
std::string Timeline(uint64_t start_us, uint64_t waited_us, uint64_t ran_us, uint64_t total_us) {
  const auto column = [&](uint64_t us) {
    return std::min(kTimelineWidth, total_us == 0 ? 0 : us * kTimelineWidth / total_us);
  };
  const uint64_t begin = std::min(column(start_us), kTimelineWidth - 1);
  const uint64_t run = std::min(column(start_us + waited_us), kTimelineWidth - 1);
  const uint64_t end = std::max(run + 1, column(start_us + waited_us + ran_us));
  return fmt::format("|{}{}{}{}|", std::string(begin, ' '), std::string(run - begin, '.'),
                     std::string(end - run, '='), std::string(kTimelineWidth - end, ' '));
}

// NOLINTNEXTLINE(misc-no-recursion): sub-flows are at most 16 deep
void AddSpans(const Value& spans, size_t depth, uint64_t total_us, Value* rows) {
  for (Value row : spans.items()) {
    const uint64_t start_us = UnsignedOf(row["start_us"]);
    const uint64_t waited_us = UnsignedOf(row["waited_us"]);
    const uint64_t ran_us = UnsignedOf(row["ran_us"]);
    row.Set("name", Value(std::string(2 * depth, ' ') + std::string(row["task"].AsString())));
    row.Set("start", Value(MsText(start_us)));
    row.Set("waited", Value(MsText(waited_us)));
    row.Set("ran", Value(MsText(ran_us)));
    row.Set("timeline", Value(Timeline(start_us, waited_us, ran_us, total_us)));
    const Value inner = row["spans"];
    rows->Append(std::move(row));
    AddSpans(inner, depth + 1, total_us, rows);
  }
}

void ShowTracedRun(const Value& run, Context& context) {
  const uint64_t total_us = UnsignedOf(run["duration_us"]);
  Value head = Value::EmptyObject();
  for (const std::string_view field : {"trace", "parent", "run", "flow", "origin", "status"}) {
    if (!run[field].is_missing()) head.Set(field, run[field]);
  }
  if (!run["message"].is_missing()) head.Set("message", run["message"]);
  head.Set("started", Value(UtcText(UnsignedOf(run["started_ms"]))));
  head.Set("took_ms", Value(MsText(total_us)));
  context.output.Object(head);
  context.output.Line("");
  Value rows = Value::EmptyArray();
  AddSpans(run["spans"], 0, total_us, &rows);
  context.output.Rows(rows, {{"TASK", "name"},
                             {"ROUTE", "route"},
                             {"START_MS", "start"},
                             {"WAITED_MS", "waited"},
                             {"RAN_MS", "ran"},
                             {"STATUS", "status"},
                             {"TIMELINE", "timeline"},
                             {"MESSAGE", "message"}});
  if (!run["left_out"].is_missing()) {
    context.output.Note(fmt::format("{} more tasks are not kept", UnsignedOf(run["left_out"])));
  }
}

Status ShowTrace(const TraceOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value trace,
                   api->CallJson({.path = "/v1/flows/traces/" + Segment(options.id)}));
  if (context.output.json()) {
    context.output.Object(trace);
    return OkStatus();
  }
  bool first = true;
  for (const Value& run : trace["runs"].items()) {
    if (!std::exchange(first, false)) context.output.Line("");
    ShowTracedRun(run, context);
  }
  return OkStatus();
}

}  // namespace

void AddFlowTraceCommands(Program* program, CLI::App* group) {
  const auto options = std::make_shared<TraceOptions>();
  const auto add = [&](const std::string& name, const std::string& help,
                       Status (*run)(const TraceOptions&, Context&)) {
    return program->AddCommand(group, name, help,
                               [options, run](Context& context) { return run(*options, context); });
  };
  CLI::App* traces = add("traces", "List the latest runs and how long they took", ListTraces);
  traces->add_option("--flow", options->flow, "Only runs of this flow");
  traces->add_option("--min", options->least,
                     "Only runs that took at least this long, such as 100ms");
  traces->add_flag("--failed", options->failed, "Only runs that failed");
  traces->add_option("--limit", options->limit, "How many")->capture_default_str();
  add("trace", "Show when each task of a run was called and how long it took", ShowTrace)
      ->add_option("trace", options->id, "Id of the trace, or of a run")
      ->required();
}

}  // namespace sluice::cli
