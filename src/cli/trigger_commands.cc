// trigger list|show|hold|resume|skip|dead-letter|failures.
#include <memory>

#include "cli/api.h"
#include "cli/commands.h"

namespace sluice::cli {
namespace {

using json::Value;

struct TriggerOptions {
  std::string name;
  std::string event;
  std::string show;
  std::string retry;
  std::string drop;
  bool drop_all = false;
  size_t limit = 100;
};

std::string PathOf(const TriggerOptions& options, const std::string& rest = "") {
  return "/v1/triggers/" + Segment(options.name) + rest;
}

std::string TextOf(const Value& value) {
  return value.is_string() ? std::string(value.AsString()) : "";
}

// "t, u".
std::string SourcesOf(const Value& sources) {
  std::string text;
  for (const Value& source : sources.items()) {
    text += (text.empty() ? "" : ", ") + TextOf(source["table"]);
  }
  return text;
}

std::string FirstLine(const Value& error) {
  const std::string text = TextOf(error);
  return text.substr(0, text.find('\n'));
}

Status List(Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = "/v1/triggers"}));
  if (context.output.json()) {
    context.output.Rows(answer["triggers"], {});
    return OkStatus();
  }
  Value rows = Value::EmptyArray();
  for (const Value& trigger : answer["triggers"].items()) {
    const bool failing = TextOf(trigger["state"]) == "failing";
    rows.Append(Value::Object({{"name", trigger["name"]},
                               {"type", trigger["type"]},
                               {"state", trigger["state"]},
                               {"on", SourcesOf(trigger["sources"])},
                               {"depth", trigger["depth"]},
                               {"dead", trigger["dead_letters"]},
                               {"error", failing ? FirstLine(trigger["error"]) : ""}}));
  }
  context.output.Rows(rows, {{"NAME", "name"},
                             {"TYPE", "type"},
                             {"STATE", "state"},
                             {"ON", "on"},
                             {"DEPTH", "depth"},
                             {"DEAD", "dead"},
                             {"ERROR", "error"}});
  return OkStatus();
}

Status Show(const TriggerOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value trigger, api->CallJson({.path = PathOf(options)}));
  context.output.Object(trigger);
  return OkStatus();
}

Status Order(const std::string& method, const std::string& path, const std::string& done,
             Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = method, .path = path}));
  context.output.Note(done);
  return OkStatus();
}

Status Hold(const TriggerOptions& options, Context& context) {
  return Order("POST", PathOf(options, "/hold"), fmt::format("trigger {} held", options.name),
               context);
}

Status Resume(const TriggerOptions& options, Context& context) {
  return Order("POST", PathOf(options, "/resume"), fmt::format("trigger {} goes on", options.name),
               context);
}

Status Skip(const TriggerOptions& options, Context& context) {
  return Order("POST", PathOf(options, "/skip" + Query({{"event", options.event}})),
               fmt::format("event {} skipped", options.event), context);
}

Status DeadLetter(const TriggerOptions& options, Context& context) {
  return Order("POST", PathOf(options, "/dead-letter" + Query({{"event", options.event}})),
               fmt::format("event {} is a dead letter", options.event), context);
}

Status ListFailures(const TriggerOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const std::string path =
      PathOf(options, "/failures" + Query({{"limit", std::to_string(options.limit)}}));
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = path}));
  if (context.output.json()) {
    context.output.Rows(answer["failures"], {});
  } else {
    Value rows = Value::EmptyArray();
    for (const Value& failure : answer["failures"].items()) {
      const Value& event = failure["event"];
      rows.Append(Value::Object(
          {{"id", failure["id"]},
           {"attempts", failure["attempts"]},
           {"last", failure["last"]},
           {"event", fmt::format("{} {}", TextOf(event["type"]), TextOf(event["name"]))},
           {"error", FirstLine(failure["error"])}}));
    }
    context.output.Rows(rows, {{"FAILURE", "id"},
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

Status Failures(const TriggerOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  if (!options.show.empty()) {
    ASSIGN_OR_RETURN(
        const Value failure,
        api->CallJson({.path = PathOf(options, "/failures/" + Segment(options.show))}));
    context.output.Object(failure);
    return OkStatus();
  }
  if (!options.retry.empty()) {
    return Order("POST", PathOf(options, "/failures/" + Segment(options.retry) + "/retry"),
                 fmt::format("failure {} was run again and is gone", options.retry), context);
  }
  if (!options.drop.empty()) {
    return Order("DELETE", PathOf(options, "/failures/" + Segment(options.drop)),
                 fmt::format("failure {} dropped", options.drop), context);
  }
  if (!options.drop_all) return ListFailures(options, context);
  ASSIGN_OR_RETURN(const Value answer,
                   api->CallJson({.method = "DELETE", .path = PathOf(options, "/failures")}));
  const int64_t count = answer["count"].is_int() ? answer["count"].AsInt() : 0;
  context.output.Note(fmt::format("{} failures dropped", count));
  return OkStatus();
}

void AddFailuresOptions(CLI::App* command, TriggerOptions* options) {
  CLI::Option* const one_of_these[] = {
      command->add_option("--show", options->show, "One dead letter, with its event's data"),
      command->add_option("--retry", options->retry,
                          "Run the procedure for it; it is gone if that succeeds"),
      command->add_option("--drop", options->drop, "Forget this dead letter"),
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

}  // namespace

void AddTriggerCommands(Program* program) {
  const auto options = std::make_shared<TriggerOptions>();
  CLI::App* group = program->AddGroup("trigger", "Lua triggers and consumers of tables");
  program->AddCommand(group, "list", "List the triggers and consumers", List);
  const auto add = [&](const std::string& name, const std::string& help,
                       Status (*run)(const TriggerOptions&, Context&)) {
    CLI::App* command = program->AddCommand(
        group, name, help, [options, run](Context& context) { return run(*options, context); });
    command->add_option("name", options->name, "Trigger")->required();
    return command;
  };
  add("show", "Show a trigger, with the event at its head", Show);
  add("hold", "Stop a trigger for now; its events wait", Hold);
  add("resume", "Let a held trigger go on", Resume);
  const char* const kEvent = "Id of the event, as show prints it; it must be at the head";
  add("skip", "Pass the event at the head without handling it", Skip)
      ->add_option("event", options->event, kEvent)
      ->required();
  add("dead-letter", "Pass the event at the head and keep it as a dead letter", DeadLetter)
      ->add_option("event", options->event, kEvent)
      ->required();
  AddFailuresOptions(add("failures", "A trigger's dead letters", Failures), options.get());
}

}  // namespace sluice::cli
