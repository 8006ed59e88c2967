// fn failures: a function's events that failed, listed, shown, replayed or dropped.
#include <memory>

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/failure_list.h"
#include "cli/function_path.h"

namespace sluice::cli {
namespace {

using json::Value;

struct FailuresOptions {
  std::string name;
  std::string show;
  std::string replay;
  std::string drop;
  bool replay_all = false;
  bool drop_all = false;
  size_t limit = 100;
};

std::string FunctionFailuresPath(const FailuresOptions& options, const std::string& rest = "") {
  return FunctionPath("functions", options.name, "failures" + rest);
}

// "update of 'order::1'", "timer Remind:order::1".
std::string EventText(const Value& event) {
  const std::string operation = TextOf(event["operation"]);
  if (operation == "timer") {
    return fmt::format("timer {}:{}", TextOf(event["callback"]), TextOf(event["reference"]));
  }
  return fmt::format("{} of {}", operation, TextOf(event["key"]));
}

// The first line of it, with its place.
std::string ErrorText(const Value& error) {
  std::string text = FirstLine(error["message"]);
  if (error["line"].is_int()) {
    text += fmt::format(" (line {}, column {})", error["line"].AsInt(), error["column"].AsInt());
  }
  return text;
}

Status ListFunctionFailures(const FailuresOptions& options, Context& context) {
  const auto row = [](const Value& failure) {
    return Value::Object({{"id", failure["id"]},
                          {"state", failure["state"]},
                          {"attempts", failure["attempts"]},
                          {"last", failure["last"]},
                          {"event", EventText(failure["event"])},
                          {"error", ErrorText(failure["error"])}});
  };
  const std::string path = FunctionPath("functions", options.name, "failures",
                                        {{"limit", std::to_string(options.limit)}});
  return ListFailures(path, options.limit, row,
                      {{"FAILURE", "id"},
                       {"STATE", "state"},
                       {"ATTEMPTS", "attempts"},
                       {"LAST", "last"},
                       {"EVENT", "event"},
                       {"ERROR", "error"}},
                      context);
}

Status ShowFunctionFailure(const FailuresOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(
      const Value failure,
      api->CallJson({.path = FunctionFailuresPath(options, "/" + Segment(options.show))}));
  context.output.Object(failure);
  return OkStatus();
}

Status FunctionFailures(const FailuresOptions& options, Context& context) {
  if (!options.show.empty()) return ShowFunctionFailure(options, context);
  if (!options.replay.empty()) {
    return Order("POST", FunctionFailuresPath(options, "/" + Segment(options.replay) + "/replay"),
                 fmt::format("failure {} is run again", options.replay), context);
  }
  if (!options.drop.empty()) {
    return Order("DELETE", FunctionFailuresPath(options, "/" + Segment(options.drop)),
                 fmt::format("failure {} dropped", options.drop), context);
  }
  if (options.replay_all) {
    return OrderAll("POST", FunctionFailuresPath(options, "/replay"), "are run again", context);
  }
  if (options.drop_all)
    return OrderAll("DELETE", FunctionFailuresPath(options), "dropped", context);
  return ListFunctionFailures(options, context);
}

}  // namespace

void AddFnFailuresCommand(Program* program, CLI::App* group) {
  const auto options = std::make_shared<FailuresOptions>();
  CLI::App* command = program->AddCommand(
      group, "failures", "List a function's failed events",
      [options](Context& context) { return FunctionFailures(*options, context); });
  command->add_option("name", options->name, "Function: NAME, or BUCKET/SCOPE/NAME")->required();
  ExcludeEachOther({
      command->add_option("--show", options->show, "One failure, with its event's data and stack"),
      command->add_option("--replay", options->replay, "Run the event of this failure again"),
      command->add_flag("--replay-all", options->replay_all, "Run all failed events again"),
      command->add_option("--drop", options->drop, "Forget this failure"),
      command->add_flag("--drop-all", options->drop_all, "Forget all failures"),
  });
  AddLimitOption(command, &options->limit);
}

}  // namespace sluice::cli
