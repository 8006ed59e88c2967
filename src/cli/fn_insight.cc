// fn insight: a function's code with the calls, errors and logs of its lines.
#include <memory>
#include <sstream>

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/function_path.h"

namespace sluice::cli {
namespace {

using json::Value;

// Nothing for 0.
std::string Number(const Value& value) {
  if (value.is_missing() || (value.is_int() && value.AsInt() == 0)) return "";
  return CellText(value);
}

std::string Time(const Value& line) {
  if (Number(line["call_count"]).empty() || !line["call_time"].is_number()) return "";
  return fmt::format("{:.3f} ms", line["call_time"].ToDouble());
}

void PrintLine(size_t number, const std::string& code, const Value& line, Output& output) {
  output.Line(fmt::format("{:>8} {:>14} {:>7} {:>5}  {}", Number(line["call_count"]), Time(line),
                          Number(line["error_count"]), number, code));
  for (const auto& [name, field] : {std::pair{"error", "error_msg"}, {"log", "last_log"}}) {
    const std::string text = CellText(line[field]);
    if (!text.empty()) output.Line(fmt::format("{:>39}  last {}: {}", "", name, text));
  }
}

Status Insight(const std::string& name, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value insight, api->CallJson({.path = NamedPath("getInsight", name)}));
  if (context.output.json()) {
    context.output.Object(insight);
  } else {
    context.output.Line(
        fmt::format("{:>8} {:>14} {:>7} {:>5}  {}", "CALLS", "TIME", "ERRORS", "LINE", "CODE"));
    std::istringstream code(
        insight["script"].is_string() ? std::string(insight["script"].AsString()) : "");
    std::string text;
    const Value& headers = insight["header_lines"];
    for (int64_t i = 0; headers.is_int() && i < headers.AsInt(); ++i) std::getline(code, text);
    for (size_t number = 1; std::getline(code, text); ++number) {
      PrintLine(number, text, insight["lines"][std::to_string(number)], context.output);
    }
  }
  if (insight["counted"].is_bool() && !insight["counted"].AsBool()) {
    context.output.Note(
        "the server counts calls from now on, until nobody has asked for ten minutes");
  }
  return OkStatus();
}

}  // namespace

void AddFnInsightCommand(Program* program, CLI::App* group) {
  const auto name = std::make_shared<std::string>();
  program
      ->AddCommand(group, "insight",
                   "Show a function's code with the calls, errors and logs of each line",
                   [name](Context& context) { return Insight(*name, context); })
      ->add_option("name", *name, "Function: NAME, or BUCKET/SCOPE/NAME")
      ->required();
}

}  // namespace sluice::cli
