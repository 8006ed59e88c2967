// fn failures: a function's events that failed, listed, shown, replayed or dropped.
#include <memory>

#include "cli/api.h"
#include "cli/commands.h"
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

std::string PathOf(const FailuresOptions& options, const std::string& rest = "") {
  return FunctionPath("functions", options.name, "failures" + rest);
}

std::string TextOf(const Value& value) {
  return value.is_string() ? std::string(value.AsString()) : "";
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
  const std::string message = TextOf(error["message"]);
  std::string text = message.substr(0, message.find('\n'));
  if (error["line"].is_int()) {
    text += fmt::format(" (line {}, column {})", error["line"].AsInt(), error["column"].AsInt());
  }
  return text;
}

Status List(const FailuresOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const std::string path = FunctionPath("functions", options.name, "failures",
                                        {{"limit", std::to_string(options.limit)}});
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = path}));
  if (context.output.json()) {
    context.output.Rows(answer["failures"], {});
  } else {
    Value rows = Value::EmptyArray();
    for (const Value& failure : answer["failures"].items()) {
      rows.Append(Value::Object({{"id", failure["id"]},
                                 {"state", failure["state"]},
                                 {"attempts", failure["attempts"]},
                                 {"last", failure["last"]},
                                 {"event", EventText(failure["event"])},
                                 {"error", ErrorText(failure["error"])}}));
    }
    context.output.Rows(rows, {{"FAILURE", "id"},
                               {"STATE", "state"},
                               {"ATTEMPTS", "attempts"},
                               {"LAST", "last"},
                               {"EVENT", "event"},
                               {"ERROR", "error"}});
  }
  if (!answer["next"].is_missing()) {
    context.output.Note(fmt::format("there are more than {}; see --limit", options.limit));
  }
  return OkStatus();
}

Status Show(const FailuresOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value failure,
                   api->CallJson({.path = PathOf(options, "/" + Segment(options.show))}));
  context.output.Object(failure);
  return OkStatus();
}

Status ChangeOne(const std::string& method, const std::string& path, const std::string& done,
                 Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = method, .path = path}));
  context.output.Note(done);
  return OkStatus();
}

Status ChangeAll(const std::string& method, const std::string& path, std::string_view done,
                 Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.method = method, .path = path}));
  const int64_t count = answer["count"].is_int() ? answer["count"].AsInt() : 0;
  context.output.Note(fmt::format("{} failures {}", count, done));
  return OkStatus();
}

Status Failures(const FailuresOptions& options, Context& context) {
  if (!options.show.empty()) return Show(options, context);
  if (!options.replay.empty()) {
    return ChangeOne("POST", PathOf(options, "/" + Segment(options.replay) + "/replay"),
                     fmt::format("failure {} is run again", options.replay), context);
  }
  if (!options.drop.empty()) {
    return ChangeOne("DELETE", PathOf(options, "/" + Segment(options.drop)),
                     fmt::format("failure {} dropped", options.drop), context);
  }
  if (options.replay_all) {
    return ChangeAll("POST", PathOf(options, "/replay"), "are run again", context);
  }
  if (options.drop_all) return ChangeAll("DELETE", PathOf(options), "dropped", context);
  return List(options, context);
}

}  // namespace

void AddFnFailuresCommand(Program* program, CLI::App* group) {
  const auto options = std::make_shared<FailuresOptions>();
  CLI::App* command =
      program->AddCommand(group, "failures", "A function's events that failed",
                          [options](Context& context) { return Failures(*options, context); });
  command->add_option("name", options->name, "Function: NAME, or BUCKET/SCOPE/NAME")->required();
  CLI::Option* const one_of_these[] = {
      command->add_option("--show", options->show, "One failure, with its event's data and stack"),
      command->add_option("--replay", options->replay, "Run the event of this failure again"),
      command->add_flag("--replay-all", options->replay_all, "Run all of them again"),
      command->add_option("--drop", options->drop, "Forget this failure"),
      command->add_flag("--drop-all", options->drop_all, "Forget all of them")};
  for (CLI::Option* option : one_of_these) {
    for (CLI::Option* other : one_of_these) {
      if (option != other) option->excludes(other);
    }
  }
  command->add_option("--limit", options->limit, "List at most so many, the oldest first")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
}

}  // namespace sluice::cli
